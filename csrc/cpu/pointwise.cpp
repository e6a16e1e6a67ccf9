// Running an element function over strided operands of any element types.
//
// Note [One loop per operator]: kernels only know contiguous runs of their own type. An operand
// with other strides or another element type (float16, an integer in a float operator) is converted
// chunk by chunk into a buffer that stays in the first-level cache, so no operator needs a strided,
// a mixed or a 16-bit version.
#include "cpu/pointwise.h"

#include "cpu/copy.h"
#include "cpu/strided.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

constexpr int64_t kChunk = 1024;    // elements; the buffers of a float operator fill 16 KiB
constexpr int64_t kShortRow = 256;  // shorter rows are taken several at a time
constexpr int kOperands = kMaxPointwiseInputs + 1;  // the output is operand 0

const PointwiseLoop* const* const kLoops = pointwise_loops();

PointwiseLoop loop_of(PointwiseId function, DType dtype) {
  return kLoops[static_cast<int>(function)][static_cast<int>(dtype)];
}

struct Operand {
  char* base = nullptr;
  DType dtype = DType::kFloat32;         // in memory
  DType kernel_dtype = DType::kFloat32;  // in the kernel
  ConvertFn convert = nullptr;  // memory -> kernel for inputs, kernel -> memory for the output
  bool fixed = false;
  alignas(16) char value[16];  // of a fixed input
};

struct Plan {
  PointwiseLoop loop;
  const void* params;
  int operands;  // with the output
  unsigned fixed = 0;
  Operand operand[kOperands];

  // Whether operand k can be used in place when its elements are `step` bytes apart.
  bool direct(int k, int64_t step) const {
    const Operand& o = operand[k];
    return o.fixed || (o.dtype == o.kernel_dtype && step == static_cast<int64_t>(size_of(o.dtype)));
  }
};

struct Buffers {
  alignas(64) char bytes[kOperands][kChunk * 16];
};

// One row: every operand is at `at[k]`, its elements `step[k]` bytes apart.
void run_row(const Plan& plan, int64_t n, char* const* at, const int64_t* step, Buffers& buffers) {
  bool all_direct = true;
  for (int k = 0; k < plan.operands; ++k) all_direct &= plan.direct(k, step[k]);
  const void* in[kMaxPointwiseInputs] = {};
  if (all_direct) {
    for (int k = 1; k < plan.operands; ++k)
      in[k - 1] = plan.operand[k].fixed ? plan.operand[k].value : at[k];
    plan.loop(n, at[0], in, plan.fixed, plan.params);
    return;
  }
  for (int64_t first = 0; first < n; first += kChunk) {
    const int64_t count = std::min(kChunk, n - first);
    // An operand that is constant along the row need not be expanded.
    unsigned fixed = plan.fixed;
    for (int k = 1; k < plan.operands; ++k) {
      const Operand& o = plan.operand[k];
      if (o.fixed) {
        in[k - 1] = o.value;
      } else if (step[k] == 0) {
        o.convert(1, at[k], 0, buffers.bytes[k], static_cast<int64_t>(size_of(o.kernel_dtype)));
        in[k - 1] = buffers.bytes[k];
        fixed |= 1u << (k - 1);
      } else if (plan.direct(k, step[k])) {
        in[k - 1] = at[k] + first * step[k];
      } else {
        o.convert(count, at[k] + first * step[k], step[k], buffers.bytes[k],
                  static_cast<int64_t>(size_of(o.kernel_dtype)));
        in[k - 1] = buffers.bytes[k];
      }
    }
    const Operand& out = plan.operand[0];
    char* target = at[0] + first * step[0];
    if (plan.direct(0, step[0])) {
      plan.loop(count, target, in, fixed, plan.params);
    } else {
      plan.loop(count, buffers.bytes[0], in, fixed, plan.params);
      out.convert(count, buffers.bytes[0], static_cast<int64_t>(size_of(out.kernel_dtype)), target,
                  step[0]);
    }
  }
}

// How the rows of an operand follow each other in memory.
enum class Rows : uint8_t {
  kApart,      // any way: they are gathered into a buffer, or scattered from one
  kBehind,     // without gaps and of the kernel's type: several rows are one run of memory
  kRepeating,  // every row is the same: a buffer filled once serves them all
};

Rows rows_of(const Operand& operand, const StridedLoop<kOperands>& loop, int k) {
  bool repeating = true;
  bool behind = operand.dtype == operand.kernel_dtype;
  auto expected = static_cast<int64_t>(size_of(operand.dtype));
  for (int d = loop.ndim - 1; d >= 0; --d) {
    behind &= loop.strides[k][d] == expected;
    expected *= loop.sizes[d];
    repeating &= d == loop.ndim - 1 || loop.strides[k][d] == 0;
  }
  return behind ? Rows::kBehind : repeating && k > 0 ? Rows::kRepeating : Rows::kApart;
}

// Many short rows: gathers several at a time, computes them at once and scatters the results.
void run_short_rows(const Plan& plan, const StridedLoop<kOperands>& loop, int64_t begin,
                    int64_t end, Buffers& buffers) {
  const int64_t inner = loop.inner();
  const int64_t rows_per_chunk = kChunk / inner;
  Rows rows_at[kOperands];
  for (int k = 0; k < plan.operands; ++k) rows_at[k] = rows_of(plan.operand[k], loop, k);
  const auto gather_row = [&](int k, int64_t r, int64_t offset) {
    const Operand& o = plan.operand[k];
    const auto size = static_cast<int64_t>(size_of(o.kernel_dtype));
    o.convert(inner, o.base + offset, loop.strides[k].back(), buffers.bytes[k] + r * inner * size,
              size);
  };
  for (int k = 1; k < plan.operands; ++k)
    if (!plan.operand[k].fixed && rows_at[k] == Rows::kRepeating)
      for (int64_t r = 0; r < std::min(rows_per_chunk, end - begin); ++r) gather_row(k, r, 0);

  const Operand& out = plan.operand[0];
  const auto out_size = static_cast<int64_t>(size_of(out.kernel_dtype));
  bool any_apart = false;
  for (int k = 0; k < plan.operands; ++k)
    any_apart |= !plan.operand[k].fixed && rows_at[k] == Rows::kApart;
  const auto run_at = [&](int k, int64_t row) {
    const Operand& o = plan.operand[k];
    return o.base + row * inner * static_cast<int64_t>(size_of(o.dtype));
  };
  RowCursor<kOperands> cursor(loop, plan.operands, begin);
  for (int64_t row = begin; row < end; row += rows_per_chunk) {
    const int64_t rows = std::min(rows_per_chunk, end - row);
    const void* in[kMaxPointwiseInputs] = {};
    for (int k = 1; k < plan.operands; ++k) {
      const Operand& o = plan.operand[k];
      in[k - 1] = o.fixed                       ? o.value
                  : rows_at[k] == Rows::kBehind ? run_at(k, row)
                                                : buffers.bytes[k];
    }
    char* target = rows_at[0] == Rows::kBehind ? run_at(0, row) : buffers.bytes[0];
    if (!any_apart) {
      plan.loop(rows * inner, target, in, plan.fixed, plan.params);
      continue;
    }
    RowCursor<kOperands> scatter = cursor;
    for (int64_t r = 0; r < rows; ++r, cursor.next())
      for (int k = 1; k < plan.operands; ++k)
        if (!plan.operand[k].fixed && rows_at[k] == Rows::kApart)
          gather_row(k, r, cursor.offset[k]);
    plan.loop(rows * inner, target, in, plan.fixed, plan.params);
    if (rows_at[0] == Rows::kBehind) continue;
    for (int64_t r = 0; r < rows; ++r, scatter.next())
      out.convert(inner, buffers.bytes[0] + r * inner * out_size, out_size,
                  out.base + scatter.offset[0], loop.strides[0].back());
  }
}

}  // namespace

void pointwise_run(const PointwiseRun& run) {
  const PointwiseLoop loop = loop_of(run.function, run.dtype);
  if (run.n <= kGrain) return loop(run.n, run.out, run.in, run.fixed, run.params);
  int64_t step[kMaxPointwiseInputs] = {};
  for (int i = 0; i < run.inputs; ++i)
    if (!(run.fixed >> i & 1))
      step[i] = static_cast<int64_t>(size_of(run.bool_inputs >> i & 1 ? DType::kBool : run.dtype));
  const auto out_step = static_cast<int64_t>(size_of(run.out_dtype));
  parallel_for(run.n, kGrain, [&](int64_t begin, int64_t end) {
    const void* at[kMaxPointwiseInputs];
    for (int i = 0; i < run.inputs; ++i)
      at[i] = static_cast<const char*>(run.in[i]) + begin * step[i];
    loop(end - begin, static_cast<char*>(run.out) + begin * out_step, at, run.fixed, run.params);
  });
}

void pointwise(const PointwiseCall& call) {
  const Tensor& out = *call.out;
  if (out.numel() == 0) return;
  const IntSpan shape = out.sizes();
  Plan plan;
  plan.loop = loop_of(call.function, call.dtype);
  plan.params = call.params;
  plan.operands = call.inputs + 1;
  Dims strides[kOperands];
  const auto add_strides = [&](int k, const Tensor& t) {
    strides[k] = broadcast_strides(t.sizes(), t.strides(), shape);
    // The stride of a single element may be anything, even too large to be expressed in bytes.
    for (size_t i = 0; i < shape.size(); ++i)
      strides[k][i] = shape[i] == 1 ? 0 : strides[k][i] * static_cast<int64_t>(t.element_size());
  };
  plan.operand[0].base = static_cast<char*>(out.data());
  plan.operand[0].dtype = out.dtype();
  plan.operand[0].kernel_dtype = call.out_dtype;
  plan.operand[0].convert = converter(call.out_dtype, out.dtype());
  add_strides(0, out);
  for (int i = 0; i < call.inputs; ++i) {
    const PointwiseInput& input = call.input[i];
    Operand& o = plan.operand[i + 1];
    o.kernel_dtype = input.kernel_dtype;
    o.fixed = !input.tensor || input.tensor->numel() == 1;
    if (o.fixed) {
      plan.fixed |= 1u << i;
      strides[i + 1] = Dims(out.dim());
      if (input.tensor)
        converter(input.tensor->dtype(), o.kernel_dtype)(1, input.tensor->data(), 0, o.value, 0);
      else
        std::copy_n(static_cast<const char*>(input.value), sizeof(o.value), o.value);
    } else {
      o.base = static_cast<char*>(input.tensor->data());
      o.dtype = input.tensor->dtype();
      o.convert = converter(o.dtype, o.kernel_dtype);
      add_strides(i + 1, *input.tensor);
    }
  }
  const StridedLoop<kOperands> loop(shape, {strides[0], strides[1], strides[2], strides[3]},
                                    plan.operands, call.order);
  const int64_t inner = loop.inner();
  int64_t step[kOperands] = {};
  for (int k = 0; k < plan.operands; ++k) step[k] = loop.strides[k].back();

  if (loop.ndim == 1) {
    parallel_for(inner, kGrain, [&](int64_t begin, int64_t end) {
      Buffers buffers;
      char* at[kOperands] = {};
      for (int k = 0; k < plan.operands; ++k)
        if (plan.operand[k].base) at[k] = plan.operand[k].base + begin * step[k];
      run_row(plan, end - begin, at, step, buffers);
    });
    return;
  }
  parallel_for(loop.rows(), std::max<int64_t>(1, kGrain / inner), [&](int64_t begin, int64_t end) {
    Buffers buffers;
    if (inner < kShortRow) {
      run_short_rows(plan, loop, begin, end, buffers);
      return;
    }
    RowCursor<kOperands> cursor(loop, plan.operands, begin);
    for (int64_t row = begin; row < end; ++row, cursor.next()) {
      char* at[kOperands] = {};
      for (int k = 0; k < plan.operands; ++k)
        if (plan.operand[k].base) at[k] = plan.operand[k].base + cursor.offset[k];
      run_row(plan, inner, at, step, buffers);
    }
  });
}

}  // namespace fb::cpu
