// Softmax, its logarithm and log-sum-exp.
#include "gen/ops/softmax.h"

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/explog.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/output.h"
#include "ops/promotion.h"

namespace fb::ops {
namespace {

using kernel::SoftmaxOp;

int64_t product(IntSpan sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

// A contiguous tensor as (outer, n, inner), the middle along one dimension.
struct Lines {
  int64_t outer = 1, n = 1, inner = 1;
};

Lines lines_along(const Tensor& t, int64_t dim) {
  const int64_t d = wrap_dim(dim, t.dim());
  if (t.dim() == 0) return {};
  const IntSpan sizes = t.sizes();
  return {product(sizes.first(d)), sizes[d], product(sizes.last(sizes.size() - d - 1))};
}

Tensor normalised(SoftmaxOp op, const Tensor& input, int64_t dim, std::optional<DType> dtype) {
  const Lines lines = lines_along(input, dim);
  const Tensor x = contiguous(dtype ? cast(input, *dtype) : input);
  Tensor out = make_tensor(x.sizes(), x.dtype(), x.device());
  kernel::of(x).softmax(op, x.dtype(), x.data(), out.data(), lines.outer, lines.n, lines.inner);
  return out;
}

// 16-bit floats are computed in float32.
Tensor gradient_of(SoftmaxOp op, const Tensor& gradient, const Tensor& output, int64_t dim) {
  const Lines lines = lines_along(output, dim);
  const DType type = output.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const Tensor g = contiguous(cast(gradient, type)), y = contiguous(cast(output, type));
  Tensor out = make_tensor(y.sizes(), type, y.device());
  kernel::of(y).softmax_backward(op, type, g.data(), y.data(), out.data(), lines.outer, lines.n,
                                 lines.inner);
  return cast(out, output.dtype());
}

// Relative to the largest real part, unless that is infinite.
Tensor complex_logsumexp(const Tensor& input, IntSpan dim, bool keepdim) {
  if (input.numel() == 0) return ops::log(ops::sum(input, dim, keepdim, {}));
  const Tensor largest = ops::amax(ops::real(input), dim, true);
  const Tensor top = ops::where(ops::isinf(largest), Scalar(0.0), largest);
  const Tensor total = ops::sum(ops::exp(ops::sub(input, top, 1)), dim, keepdim, {});
  return ops::add(ops::log(total), keepdim ? top : ops::amax(top, dim, false), 1);
}

}  // namespace

Tensor compute::softmax(const Tensor& input, int64_t dim, std::optional<DType> dtype) {
  return normalised(SoftmaxOp::kSoftmax, input, dim, dtype);
}

Tensor compute::log_softmax(const Tensor& input, int64_t dim, std::optional<DType> dtype) {
  return normalised(SoftmaxOp::kLogSoftmax, input, dim, dtype);
}

Tensor compute::softmax_backward(const Tensor& gradient, const Tensor& output, int64_t dim) {
  return gradient_of(SoftmaxOp::kSoftmax, gradient, output, dim);
}

Tensor compute::log_softmax_backward(const Tensor& gradient, const Tensor& output, int64_t dim) {
  return gradient_of(SoftmaxOp::kLogSoftmax, gradient, output, dim);
}

Tensor compute::logsumexp(const Tensor& input, IntSpan dim, bool keepdim) {
  if (is_complex(input.dtype())) return complex_logsumexp(input, dim, keepdim);
  Dims reduced = wrap_dims(dim, input.dim());
  if (input.dim() == 0) reduced.clear();
  std::sort(reduced.begin(), reduced.end());

  // The reduced dimensions become one, in the middle if they are adjacent, else at the end.
  Dims order, kept, result_sizes;
  for (int64_t d = 0; d < input.dim(); ++d) {
    const bool gone = std::find(reduced.begin(), reduced.end(), d) != reduced.end();
    if (!gone) kept.push_back(d);
    if (!gone || keepdim) result_sizes.push_back(gone ? 1 : input.sizes()[d]);
  }
  const bool neighbours =
      reduced.empty() || reduced.back() - reduced[0] + 1 == static_cast<int64_t>(reduced.size());
  const size_t before =
      neighbours && !reduced.empty() ? static_cast<size_t>(reduced[0]) : kept.size();
  for (size_t i = 0; i < before; ++i) order.push_back(kept[i]);
  for (const int64_t d : reduced) order.push_back(d);
  for (size_t i = before; i < kept.size(); ++i) order.push_back(kept[i]);

  const Tensor x = contiguous(cast(compute::permute(input, order), to_floating(input.dtype())));
  Tensor out = make_tensor(result_sizes, x.dtype(), x.device());
  const IntSpan sizes = x.sizes();
  const int64_t n = product({sizes.data() + before, reduced.size()});
  if (n == 0) kernel::of(out).fill(out, -kInfinity);
  kernel::of(x).softmax(SoftmaxOp::kLogSumExp, x.dtype(), x.data(), out.data(),
                        product(sizes.first(before)), n, product(sizes.last(kept.size() - before)));
  return out;
}

}  // namespace fb::ops
