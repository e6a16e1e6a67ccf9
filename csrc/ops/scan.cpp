// Running sums, products and extrema, and differences.
#include "gen/ops/scan.h"

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/copy.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

using kernel::ScanOp;

kernel::ScanShape shape_of(const Tensor& x, int64_t dim) {
  kernel::ScanShape shape{1, 1, 1};
  for (int64_t d = 0; d < x.dim(); ++d)
    (d < dim ? shape.outer : d == dim ? shape.n : shape.inner) *= x.sizes()[d];
  return shape;
}

// Scans in a type that the kernels support; returns it as `result`.
Tensor scanned(ScanOp op, const Tensor& input, int64_t dim, DType result) {
  const int64_t d = wrap_dim(dim, input.dim());
  const DType type = is_integral(result) ? DType::kInt64 : compute_type(result);
  const Tensor x = contiguous(cast(cast(input, result), type));
  Tensor out = make_tensor(x.sizes(), type, x.device());
  kernel::of(x).scan(op, type, x.data(), out.data(), shape_of(x, d));
  return cast(out, result);
}

DType accumulation_type(const Tensor& input, std::optional<DType> dtype) {
  return dtype.value_or(is_integral(input.dtype()) ? DType::kInt64 : input.dtype());
}

std::tuple<Tensor, Tensor> running_extremum(ScanOp op, const Tensor& input, int64_t dim) {
  const int64_t d = wrap_dim(dim, input.dim());
  const DType type = is_integral(input.dtype()) ? DType::kInt64 : compute_type(input.dtype());
  const Tensor x = contiguous(cast(input, type));
  Tensor values = make_tensor(x.sizes(), type, x.device());
  Tensor indices = make_tensor(x.sizes(), DType::kInt64, x.device());
  kernel::of(x).scan_extremum(op, type, x.data(), values.data(), indices.data_as<int64_t>(),
                              shape_of(x, d));
  return {cast(values, input.dtype()), indices};
}

}  // namespace

Tensor compute::cumsum(const Tensor& input, int64_t dim, std::optional<DType> dtype) {
  return scanned(ScanOp::kSum, input, dim, accumulation_type(input, dtype));
}

Tensor compute::cumprod(const Tensor& input, int64_t dim, std::optional<DType> dtype) {
  return scanned(ScanOp::kProd, input, dim, accumulation_type(input, dtype));
}

Tensor compute::logcumsumexp(const Tensor& input, int64_t dim) {
  return scanned(ScanOp::kLogSumExp, input, dim, input.dtype());
}

std::tuple<Tensor, Tensor> compute::cummax(const Tensor& input, int64_t dim) {
  return running_extremum(ScanOp::kMax, input, dim);
}

std::tuple<Tensor, Tensor> compute::cummin(const Tensor& input, int64_t dim) {
  return running_extremum(ScanOp::kMin, input, dim);
}

Tensor compute::_recurrence(const Tensor& input, const Tensor& factor, int64_t dim, bool reverse) {
  FB_CHECK(input.sizes() == factor.sizes() && input.dtype() == factor.dtype(),
           "expected factor of the shape and type of input");
  const int64_t d = wrap_dim(dim, input.dim());
  const DType type = compute_type(input.dtype());
  const Tensor x = contiguous(cast(input, type));
  const Tensor factors = contiguous(cast(factor, type));
  Tensor out = make_tensor(x.sizes(), type, x.device());
  kernel::of(x).recurrence(type, x.data(), factors.data(), out.data(), shape_of(x, d), reverse);
  return cast(out, input.dtype());
}

Tensor diff(const Tensor& input, int64_t n, int64_t dim, const Tensor& prepend,
            const Tensor& append) {
  FB_CHECK(input.dim() > 0, "expected input to be at least one-dimensional");
  FB_CHECK(n >= 0, "expected a non-negative order n, got ", n);
  const int64_t d = wrap_dim(dim, input.dim());
  if (n == 0) return ops::clone(input);  // without prepend and append
  std::vector<Tensor> parts;
  if (prepend.defined()) parts.push_back(prepend);
  parts.push_back(input);
  if (append.defined()) parts.push_back(append);
  Tensor x = parts.size() == 1 ? input : ops::cat(parts, d);
  for (int64_t i = 0; i < n && x.size(d) > 0; ++i) {
    const int64_t length = x.size(d) - 1;
    const Tensor left = ops::narrow(x, d, 0, length);
    const Tensor right = ops::narrow(x, d, 1, length);
    x = x.dtype() == DType::kBool ? ops::logical_xor(right, left) : ops::sub(right, left, 1);
  }
  return x;
}

}  // namespace fb::ops
