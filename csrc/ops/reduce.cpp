// Reductions: dimensions to reduce, the result's type, empty input.
#include "gen/ops/reduce.h"

#include <algorithm>
#include <cmath>

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/copy.h"
#include "gen/ops/linalg.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

using kernel::ReduceOp;
using OptDims = std::optional<IntSpan>;

// Bit d stands for dimension d.
using DimMask = uint64_t;

DimMask all_dims(const Tensor& t) {
  return t.dim() == 64 ? ~DimMask{0} : (DimMask{1} << t.dim()) - 1;
}

DimMask mask_of(const Tensor& t, IntSpan dims) {
  DimMask mask = 0;
  for (const int64_t d : wrap_dims(dims, t.dim())) mask |= DimMask{1} << d;
  return mask & all_dims(t);
}

// For most reductions no dimensions means all of them.
DimMask mask_or_all(const Tensor& t, OptDims dims) {
  return dims && !dims->empty() ? mask_of(t, *dims) : all_dims(t);
}

bool has(DimMask mask, int64_t d) { return mask >> d & 1; }

int64_t reduced_count(const Tensor& t, DimMask mask) {
  int64_t count = 1;
  for (int64_t d = 0; d < t.dim(); ++d)
    if (has(mask, d)) count *= t.sizes()[d];
  return count;
}

// The result is contiguous whatever the input's layout is, as PyTorch's is.
struct ResultShape {
  Dims sizes;
  Dims by_input_dim;  // its strides, one for each dimension of the input

  ResultShape(const Tensor& input, DimMask mask, bool keepdim)
      : by_input_dim(static_cast<size_t>(input.dim())) {
    int64_t stride = 1;
    for (int64_t d = input.dim() - 1; d >= 0; --d) {
      if (has(mask, d)) continue;
      by_input_dim[d] = stride;
      stride *= input.sizes()[d];
    }
    for (int64_t d = 0; d < input.dim(); ++d) {
      const bool reduced = has(mask, d);
      if (!reduced || keepdim) sizes.push_back(reduced ? 1 : input.sizes()[d]);
    }
  }

  Tensor make(DType dtype, Device device) const { return make_tensor(sizes, dtype, device); }
};

void run(ReduceOp op, const Tensor& input, DimMask mask, const ResultShape& shape, void* out,
         void* out2, double param) {
  bool reduced[kMaxDims];
  for (int64_t d = 0; d < input.dim(); ++d) reduced[d] = has(mask, d);
  kernel::of(input).reduce(op, input.dtype(),
                           {.in = input.data(),
                            .out = out,
                            .out2 = out2,
                            .ndim = static_cast<int>(input.dim()),
                            .sizes = input.sizes().data(),
                            .in_strides = input.strides().data(),
                            .out_strides = shape.by_input_dim.data(),
                            .reduced = reduced,
                            .param = param});
}

// `out_dtype` is the type that the kernel writes.
Tensor reduce(ReduceOp op, const Tensor& input, DimMask mask, bool keepdim, DType out_dtype,
              double param = 0) {
  const ResultShape shape(input, mask, keepdim);
  Tensor out = shape.make(out_dtype, input.device());
  run(op, input, mask, shape, out.data(), nullptr, param);
  return out;
}

// Sum and prod: integers accumulate in int64 unless told otherwise.
Tensor accumulate(ReduceOp op, const Tensor& input, DimMask mask, bool keepdim,
                  std::optional<DType> dtype, double param = 0) {
  const Tensor x = dtype ? cast(input, *dtype) : input;
  const DType kernel_type = is_integral(x.dtype()) ? DType::kInt64 : x.dtype();
  return cast(reduce(op, x, mask, keepdim, kernel_type, param), dtype.value_or(kernel_type));
}

// Refuses an empty reduction that has no identity.
void check_not_empty(const Tensor& input, DimMask mask, bool dim_given, ErrorKind kind_of_all) {
  if (input.numel() != 0) return;
  FB_CHECK_AS(kind_of_all, dim_given,
              "expected a reduction dim for an empty input; specify it with the 'dim' argument");
  for (int64_t d = 0; d < input.dim(); ++d)
    FB_CHECK_INDEX(!has(mask, d) || input.sizes()[d] != 0, "expected reduction dim ", d,
                   " to have non-zero size, got shape ", input.sizes());
}

Tensor extremum(ReduceOp op, const Tensor& input, OptDims dim, bool keepdim) {
  const bool given = dim && !dim->empty();
  const DimMask mask = mask_or_all(input, dim);
  check_not_empty(input, mask, given, ErrorKind::kRuntime);
  return reduce(op, input, mask, keepdim, input.dtype());
}

std::tuple<Tensor, Tensor> extremum_with_index(ReduceOp op, const Tensor& input, int64_t dim,
                                               bool keepdim) {
  const DimMask mask = mask_of(input, {dim});
  check_not_empty(input, mask, true, ErrorKind::kIndex);
  const ResultShape shape(input, mask, keepdim);
  Tensor values = shape.make(input.dtype(), input.device());
  Tensor indices = shape.make(DType::kInt64, input.device());
  run(op, input, mask, shape, values.data(), indices.data(), 0);
  return {values, indices};
}

Tensor arg_extremum(ReduceOp op, const Tensor& input, std::optional<int64_t> dim, bool keepdim) {
  Tensor x = input;
  DimMask mask = dim ? mask_of(input, {*dim}) : all_dims(input);
  check_not_empty(input, mask, dim.has_value(), ErrorKind::kIndex);
  const Dims ones(input.dim(), 1);
  if (!dim) {
    // Positions count through the flattened tensor.
    x = as_view(contiguous(input), {input.numel()}, {1});
    mask = 1;
  }
  const ResultShape shape(x, mask, keepdim && dim);
  Tensor indices = shape.make(DType::kInt64, input.device());
  run(op, x, mask, shape, nullptr, indices.data(), 0);
  return keepdim && !dim ? as_view(indices, ones, ones) : indices;
}

Tensor truth(ReduceOp op, const Tensor& input, OptDims dim, bool keepdim) {
  const Tensor x = is_complex(input.dtype()) ? cast(input, DType::kBool) : input;
  // An empty list of dimensions reduces nothing here, unlike elsewhere.
  const DimMask mask = dim ? mask_of(x, *dim) : all_dims(x);
  const Tensor out = reduce(op, x, mask, keepdim, DType::kBool);
  return input.dtype() == DType::kUInt8 ? cast(out, DType::kUInt8) : out;
}

// The same memory with a last dimension of real and imaginary parts.
Tensor parts_of(const Tensor& z) {
  Dims sizes = z.sizes().vec();
  Dims strides = z.strides().vec();
  for (int64_t& s : strides) s *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  return tensor_over(z.storage(), sizes, strides, 2 * z.offset(), real_type(z.dtype()), z.device());
}

double correction_of(const std::optional<Scalar>& correction) {
  return correction ? correction->to<double>() : 1.0;
}

std::tuple<Tensor, Tensor> moments_of_real(ReduceOp op, const Tensor& input, DimMask mask,
                                           double correction, bool keepdim, bool with_mean) {
  const ResultShape shape(input, mask, keepdim);
  Tensor spread = shape.make(input.dtype(), input.device());
  Tensor mean = with_mean ? shape.make(input.dtype(), input.device()) : Tensor();
  run(op, input, mask, shape, spread.data(), with_mean ? mean.data() : nullptr, correction);
  return {spread, mean};
}

std::tuple<Tensor, Tensor> moments(ReduceOp op, const Tensor& input, OptDims dim, double correction,
                                   bool keepdim, bool with_mean) {
  const DimMask mask = mask_or_all(input, dim);
  if (is_complex(input.dtype())) {
    // The variance of a complex variable is the sum of its parts' variances.
    const Tensor parts = parts_of(input);
    const Tensor each = std::get<0>(moments_of_real(op, parts, mask, correction, keepdim, false));
    const ReduceOp join = op == ReduceOp::kStd ? ReduceOp::kNorm2 : ReduceOp::kSum;
    Tensor spread = reduce(join, each, DimMask{1} << (each.dim() - 1), false, each.dtype());
    return {spread, with_mean ? ops::mean(input, dim, keepdim, {}) : Tensor()};
  }
  return moments_of_real(op, input, mask, correction, keepdim, with_mean);
}

}  // namespace

Tensor compute::sum_all(const Tensor& input, std::optional<DType> dtype) {
  return accumulate(ReduceOp::kSum, input, all_dims(input), false, dtype);
}

Tensor compute::sum(const Tensor& input, OptDims dim, bool keepdim, std::optional<DType> dtype) {
  return accumulate(ReduceOp::kSum, input, mask_or_all(input, dim), keepdim, dtype);
}

Tensor compute::nansum(const Tensor& input, OptDims dim, bool keepdim, std::optional<DType> dtype) {
  const DimMask mask = mask_or_all(input, dim);
  FB_CHECK(!is_complex(input.dtype()), "does not support complex input");
  const ReduceOp op = is_integral(input.dtype()) ? ReduceOp::kSum : ReduceOp::kNanSum;
  return accumulate(op, input, mask, keepdim, dtype);
}

Tensor compute::mean_all(const Tensor& input, std::optional<DType> dtype) {
  return compute::mean(input, {}, false, dtype);
}

Tensor compute::mean(const Tensor& input, OptDims dim, bool keepdim, std::optional<DType> dtype) {
  const DType type = dtype.value_or(input.dtype());
  const DimMask mask = mask_or_all(input, dim);
  const int64_t count = reduced_count(input, mask);
  return accumulate(ReduceOp::kSum, input, mask, keepdim, type,
                    count == 0 ? NAN : static_cast<double>(count));
}

Tensor nanmean(const Tensor& input, OptDims dim, bool keepdim, std::optional<DType> dtype) {
  FB_CHECK(is_floating(input.dtype()), "expected a floating point input, got dtype ",
           input.dtype());
  const Tensor counted = ops::logical_not(ops::isnan(input));
  return ops::div(ops::nansum(input, dim, keepdim, dtype), ops::sum(counted, dim, keepdim, {}));
}

Tensor compute::prod(const Tensor& input, std::optional<DType> dtype) {
  return accumulate(ReduceOp::kProd, input, all_dims(input), false, dtype);
}

Tensor compute::prod(const Tensor& input, int64_t dim, bool keepdim, std::optional<DType> dtype) {
  return accumulate(ReduceOp::kProd, input, mask_of(input, {dim}), keepdim, dtype);
}

Tensor compute::amax(const Tensor& input, OptDims dim, bool keepdim) {
  return extremum(ReduceOp::kAmax, input, dim, keepdim);
}
Tensor compute::amin(const Tensor& input, OptDims dim, bool keepdim) {
  return extremum(ReduceOp::kAmin, input, dim, keepdim);
}
Tensor compute::max(const Tensor& input) { return extremum(ReduceOp::kAmax, input, {}, false); }
Tensor compute::min(const Tensor& input) { return extremum(ReduceOp::kAmin, input, {}, false); }

std::tuple<Tensor, Tensor> compute::max(const Tensor& input, int64_t dim, bool keepdim) {
  return extremum_with_index(ReduceOp::kMaxIndex, input, dim, keepdim);
}
std::tuple<Tensor, Tensor> compute::min(const Tensor& input, int64_t dim, bool keepdim) {
  return extremum_with_index(ReduceOp::kMinIndex, input, dim, keepdim);
}

Tensor max(const Tensor& input, const Tensor& other) { return ops::maximum(input, other); }
Tensor min(const Tensor& input, const Tensor& other) { return ops::minimum(input, other); }

Tensor compute::argmax(const Tensor& input, std::optional<int64_t> dim, bool keepdim) {
  return arg_extremum(ReduceOp::kMaxIndex, input, dim, keepdim);
}
Tensor compute::argmin(const Tensor& input, std::optional<int64_t> dim, bool keepdim) {
  return arg_extremum(ReduceOp::kMinIndex, input, dim, keepdim);
}

std::tuple<Tensor, Tensor> compute::aminmax(const Tensor& input, std::optional<int64_t> dim,
                                            bool keepdim) {
  const DimMask mask = dim ? mask_of(input, {*dim}) : all_dims(input);
  check_not_empty(input, mask, dim.has_value(), ErrorKind::kRuntime);
  return {reduce(ReduceOp::kAmin, input, mask, keepdim, input.dtype()),
          reduce(ReduceOp::kAmax, input, mask, keepdim, input.dtype())};
}

Tensor compute::any(const Tensor& input, OptDims dim, bool keepdim) {
  return truth(ReduceOp::kAny, input, dim, keepdim);
}
Tensor compute::all(const Tensor& input, OptDims dim, bool keepdim) {
  return truth(ReduceOp::kAll, input, dim, keepdim);
}

Tensor compute::count_nonzero(const Tensor& input, OptDims dim) {
  const Tensor x = is_complex(input.dtype()) ? cast(input, DType::kBool) : input;
  return reduce(ReduceOp::kCountNonzero, x, mask_or_all(x, dim), false, DType::kInt64);
}

#define FB_MOMENTS(name, op)                                                                \
  Tensor compute::name(const Tensor& input, OptDims dim, std::optional<Scalar> correction,  \
                       bool keepdim) {                                                      \
    return std::get<0>(moments(op, input, dim, correction_of(correction), keepdim, false)); \
  }                                                                                         \
  std::tuple<Tensor, Tensor> compute::name##_mean(                                          \
      const Tensor& input, OptDims dim, std::optional<Scalar> correction, bool keepdim) {   \
    return moments(op, input, dim, correction_of(correction), keepdim, true);               \
  }                                                                                         \
  Tensor name(const Tensor& input, bool unbiased) {                                         \
    return ops::name(input, {}, Scalar(int64_t{unbiased}), false);                          \
  }                                                                                         \
  Tensor name(const Tensor& input, OptDims dim, bool unbiased, bool keepdim) {              \
    return ops::name(input, dim, Scalar(int64_t{unbiased}), keepdim);                       \
  }                                                                                         \
  std::tuple<Tensor, Tensor> name##_mean(const Tensor& input, bool unbiased) {              \
    return ops::name##_mean(input, {}, Scalar(int64_t{unbiased}), false);                   \
  }                                                                                         \
  std::tuple<Tensor, Tensor> name##_mean(const Tensor& input, OptDims dim, bool unbiased,   \
                                         bool keepdim) {                                    \
    return ops::name##_mean(input, dim, Scalar(int64_t{unbiased}), keepdim);                \
  }
FB_MOMENTS(var, ReduceOp::kVar)
FB_MOMENTS(std, ReduceOp::kStd)
#undef FB_MOMENTS

Tensor compute::norm(const Tensor& input, std::optional<Scalar> p, OptDims dim, bool keepdim,
                     std::optional<DType> dtype) {
  const double ord = p ? p->to<double>() : 2.0;
  // For complex input a real dtype names the type of the absolute values.
  const DType wanted = dtype.value_or(input.dtype());
  const DType type = is_complex(input.dtype()) ? complex_type(wanted) : wanted;
  FB_CHECK(!is_integral(input.dtype()) && !is_integral(wanted),
           "expected a floating point or complex input, got dtype ", input.dtype());
  const DimMask mask = mask_or_all(input, dim);
  // The norm of complex numbers is that of their absolute values, not of their real parts.
  const Tensor converted = cast(input, type);
  const Tensor x = is_complex(type) ? compute::abs(converted) : converted;
  const DType result = x.dtype();
  const bool is_extremum = std::isinf(ord) || ord < 0;
  FB_CHECK(!is_extremum || reduced_count(x, mask) != 0, "the norm of order ", ord,
           " has no value for an empty input");
  if (ord == 0)
    return cast(reduce(ReduceOp::kCountNonzero, x, mask, keepdim, DType::kInt64), result);
  if (ord == 1) return reduce(ReduceOp::kNorm1, x, mask, keepdim, result);
  if (ord == 2) return reduce(ReduceOp::kNorm2, x, mask, keepdim, result);
  if (std::isinf(ord)) {
    const ReduceOp op = ord > 0 ? ReduceOp::kNormInf : ReduceOp::kNormNegInf;
    return reduce(op, x, mask, keepdim, result);
  }
  // The powers of the 16-bit floats are summed in float, which has the range for them.
  const Tensor wide = cast(x, compute_type(result));
  const Tensor total =
      reduce(ReduceOp::kSum, compute::pow(compute::abs(wide), ord), mask, keepdim, wide.dtype());
  return cast(compute::pow(total, 1 / ord), result);
}

Tensor named_norm(const Tensor& input, const std::string& p, OptDims dim, bool keepdim,
                  std::optional<DType> dtype) {
  FB_CHECK(p == "fro" || p == "nuc", "expected p to be a number, 'fro' or 'nuc', got '", p, "'");
  if (p == "fro") return ops::norm(input, Scalar(2.0), dim, keepdim, dtype);
  // The nuclear norm of the matrices in two dimensions: the sum of the singular values.
  Dims pair = dim ? wrap_dims(*dim, input.dim()) : Dims{-2, -1};
  FB_CHECK(pair.size() == 2 && input.dim() >= 2,
           "the nuclear norm is taken over two dimensions, got dim ", pair, " of a tensor of size ",
           input.sizes());
  DType type = dtype.value_or(input.dtype());
  // Complex matrices stay complex: their real parts are other matrices.
  if (is_complex(input.dtype()) && !is_complex(type)) type = complex_type(type);
  const Tensor matrices = ops::movedim(ops::to_dtype(input, type), pair, {-2, -1});
  Tensor result = ops::sum(ops::linalg_svdvals(matrices), IntSpan{-1});
  if (!keepdim) return result;
  pair = wrap_dims(pair, input.dim());
  std::sort(pair.begin(), pair.end());
  for (const int64_t d : pair) result = ops::unsqueeze(result, d);
  return result;
}

}  // namespace fb::ops
