// Element-wise operators.
#include "ops/pointwise.h"

#include "kernel/table.h"
#include "ops/promotion.h"
#include "ops/type_check.h"

namespace fb::ops {
namespace {

constexpr int kMaxParams = 4;

struct Types {
  DType result;      // of the returned tensor
  DType kernel;      // that operands are converted to
  DType kernel_out;  // that the kernel writes
};

Types choose_types(const PointwiseOp& op, std::span<const Operand> inputs,
                   std::span<const Scalar> params) {
  FB_ASSERT(op.bool_inputs <=
            1);  // only the first operand may differ, as the condition of `where` does
  DType common = ops::result_type(inputs.subspan(op.bool_inputs));
  if (op.promotion == Promotion::kFloat) common = to_floating(common);
  if (op.check) op.check(inputs, params, common);
  check_type(op.dtypes, common);
  Types types{common, compute_type(common), compute_type(common)};
  if (op.output == PointwiseOutput::kBool) types.result = types.kernel_out = DType::kBool;
  if (op.output == PointwiseOutput::kReal) {
    types.result = real_type(common);
    types.kernel_out = real_type(types.kernel);
  }
  if (op.output == PointwiseOutput::kComplex)
    types.result = types.kernel_out = complex_type(types.kernel);
  return types;
}

void store_params(std::span<const Scalar> params, DType t, char (&out)[kMaxParams * 16]) {
  for (size_t i = 0; i < params.size(); ++i) {
    FB_CHECK(is_complex(t) || params[i].kind() != Scalar::Kind::kComplex,
             "a parameter must be real for elements of type ", t, ", got ", params[i]);
    params[i].store(t, out + i * size_of(t));
  }
}

// The common case: contiguous tensors of the result's shape and of the kernel's own type, and
// numbers. The caller knows the shapes; returns false when the operands are otherwise not like
// that.
bool run_simple(const PointwiseOp& op, std::span<const Operand> inputs, const Types& types,
                const void* params, const Tensor& out) {
  kernel::PointwiseRun run;
  alignas(16) char numbers[kernel::kMaxPointwiseInputs][16];
  run.fixed = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const DType wanted = op.bool_inputs >> i & 1 ? DType::kBool : types.kernel;
    if (inputs[i].is_tensor()) {
      const Tensor& t = inputs[i].tensor();
      if (t.dtype() != wanted || !t.is_contiguous() || t.device() != out.device()) return false;
      run.in[i] = t.data();
    } else {
      inputs[i].scalar().store(wanted, numbers[i]);
      run.in[i] = numbers[i];
      run.fixed |= 1u << i;
    }
  }
  run.function = op.function;
  run.dtype = types.kernel;
  run.out_dtype = types.kernel_out;
  run.inputs = static_cast<int>(inputs.size());
  run.bool_inputs = op.bool_inputs;
  run.n = out.numel();
  run.out = out.data();
  run.params = params;
  kernel::of(out).pointwise_run(run);
  return true;
}

bool have_shape(std::span<const Operand> inputs, IntSpan shape) {
  for (const Operand& operand : inputs) {
    if (!operand.is_tensor()) continue;
    const IntSpan sizes = operand.tensor().sizes();
    if (sizes.data() != shape.data() && !(sizes == shape)) return false;
  }
  return true;
}

void run_general(const PointwiseOp& op, std::span<const Operand> inputs, const Types& types,
                 const void* params, const Tensor& out, IntSpan order) {
  kernel::PointwiseCall call;
  alignas(16) char numbers[kernel::kMaxPointwiseInputs][16];
  call.function = op.function;
  call.dtype = types.kernel;
  call.out_dtype = types.kernel_out;
  call.inputs = static_cast<int>(inputs.size());
  call.params = params;
  call.out = &out;
  call.order = order;
  for (size_t i = 0; i < inputs.size(); ++i) {
    kernel::PointwiseInput& input = call.input[i];
    input.kernel_dtype = op.bool_inputs >> i & 1 ? DType::kBool : types.kernel;
    if (inputs[i].is_tensor()) {
      input.tensor = &inputs[i].tensor();
    } else {
      inputs[i].scalar().store(input.kernel_dtype, numbers[i]);
      input.value = numbers[i];
    }
  }
  kernel::of(out).pointwise(call);
}

Dims broadcast_inputs(std::span<const Operand> inputs) {
  Dims shape;
  for (const Operand& operand : inputs)
    if (operand.is_tensor()) shape = broadcast_shapes(shape, operand.tensor().sizes());
  return shape;
}

Dims order_of(IntSpan shape, const Tensor* out, std::span<const Operand> inputs) {
  const Tensor* tensors[kernel::kMaxPointwiseInputs + 1];
  size_t count = 0;
  if (out) tensors[count++] = out;
  for (const Operand& operand : inputs)
    if (operand.is_tensor()) tensors[count++] = &operand.tensor();
  return iteration_order(shape, {tensors, count});
}

// Whether the operand that decides the memory order of the result has a deferred layout.
bool follows_deferred(std::span<const Operand> inputs, IntSpan shape) {
  for (const Operand& operand : inputs) {
    if (!operand.is_tensor() || operand.tensor().is_contiguous()) continue;
    if (operand.tensor().sizes() == shape) return operand.tensor()->deferred_layout;
  }
  return false;
}

// The strides of a new result whose dimensions lie in memory in `order`, slowest first.
Dims strides_in(IntSpan order, IntSpan shape) {
  Dims strides(shape.size());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= std::max<int64_t>(shape[order[i]], 1);
  }
  return strides;
}

// Fills `out`, which has the broadcast shape and may be of another type than the result.
void write_into(const PointwiseOp& op, std::span<const Operand> inputs,
                std::span<const Scalar> params, const Types& types, const Tensor& out) {
  check_writable(out);
  for (const Operand& operand : inputs)
    if (operand.is_tensor()) check_no_partial_overlap(out, operand.tensor());
  alignas(16) char values[kMaxParams * 16];
  store_params(params, types.kernel, values);
  if (out.is_contiguous() && out.dtype() == types.kernel_out && have_shape(inputs, out.sizes()) &&
      run_simple(op, inputs, types, values, out))
    return;
  run_general(op, inputs, types, values, out, order_of(out.sizes(), &out, inputs));
}

// The result's device: that of the first tensor with dimensions, as a 0-dimensional one may be a
// number in the host's memory.
Device device_of(std::span<const Operand> inputs) {
  const Tensor* found = nullptr;
  for (const Operand& operand : inputs) {
    if (!operand.is_tensor()) continue;
    if (!found || (found->dim() == 0 && operand.tensor().dim() > 0)) found = &operand.tensor();
  }
  return found ? found->device() : kHost;
}

}  // namespace

Dims iteration_order(IntSpan shape, std::span<const Tensor* const> tensors) {
  const auto ndim = static_cast<int64_t>(shape.size());
  // Fastest first while sorting. Later dimensions are faster unless the strides say otherwise; the
  // first tensor that distinguishes two dimensions decides.
  Dims order(ndim);
  for (int64_t i = 0; i < ndim; ++i) order[i] = ndim - 1 - i;
  SmallVec<Dims, 4> strides;
  for (const Tensor* t : tensors)
    strides.push_back(broadcast_strides(t->sizes(), t->strides(), shape));
  const auto compare = [&](int64_t a, int64_t b) {
    for (const Dims& s : strides) {
      if (s[a] == 0 || s[b] == 0) continue;
      if (s[a] != s[b]) return s[a] < s[b] ? -1 : 1;
      if (shape[a] > shape[b]) return 1;
    }
    return 0;
  };
  for (int64_t i = 1; i < ndim; ++i) {
    int64_t at = i;
    for (int64_t j = i - 1; j >= 0; --j) {
      const int answer = compare(order[j], order[at]);
      if (answer < 0) break;
      if (answer == 0) continue;
      std::swap(order[j], order[at]);
      at = j;
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

Tensor pointwise(const PointwiseOp& op, std::span<const Operand> inputs,
                 std::span<const Scalar> params) {
  const Types types = choose_types(op, inputs, params);
  alignas(16) char values[kMaxParams * 16];
  store_params(params, types.kernel, values);
  const Tensor* first = nullptr;
  for (const Operand& operand : inputs) {
    if (!operand.is_tensor()) continue;
    first = &operand.tensor();
    break;
  }
  if (first && first->is_contiguous() && types.result == types.kernel_out &&
      have_shape(inputs, first->sizes())) {
    // Guess that every operand looks like the first: a wasted make_tensor is cheaper than a full
    // check.
    Tensor out = make_tensor(first->sizes(), types.result, first->device());
    if (run_simple(op, inputs, types, values, out)) return out;
  }
  const Dims shape = broadcast_inputs(inputs);
  const Dims order = order_of(shape, nullptr, inputs);
  Tensor out = make_strided(shape, strides_in(order, shape), types.result, device_of(inputs));
  out->deferred_layout = !out.is_contiguous() && follows_deferred(inputs, out.sizes());
  run_general(op, inputs, types, values, out, order);
  return out;
}

void pointwise_out(const PointwiseOp& op, std::span<const Operand> inputs,
                   std::span<const Scalar> params, const Tensor& out) {
  const Types types = choose_types(op, inputs, params);
  check_output_type(types.result, out, op.out);
  const Dims shape = broadcast_inputs(inputs);
  if (out.sizes() != IntSpan(shape)) {
    const OutRule order = follows_deferred(inputs, shape) ? kOutOrdered : 0;
    resize_output(out, shape, strides_in(order_of(shape, nullptr, inputs), shape), op.out | order);
  }
  write_into(op, inputs, params, types, out);
  out.bump_version(op.name);
}

void pointwise_inplace(const PointwiseOp& op, std::span<const Operand> inputs,
                       std::span<const Scalar> params, const Tensor& self) {
  const Types types = choose_types(op, inputs, params);
  check_output_type(types.result, self, 0);
  const Dims shape = broadcast_inputs(inputs);
  FB_CHECK(IntSpan(shape) == self.sizes(), "the result's shape ", shape,
           " is not the shape of the tensor to change, ", self.sizes());
  FB_CHECK(op.output != PointwiseOutput::kReal || !is_complex(self.dtype()),
           "not supported in place for complex tensors, as the result is real");
  write_into(op, inputs, params, types, self);
  self.bump_version(op.inplace_name);
}

}  // namespace fb::ops
