// The gradients of running sums and products.
#include "autograd/formulas/scan.h"

#include "autograd/formula.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/explog.h"
#include "gen/ops/index.h"
#include "gen/ops/scan.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"

namespace fb::autograd::formula {
namespace {

Tensor first(const Tensor& t, int64_t dim) { return ops::narrow(t, dim, 0, 1); }
Tensor without_first(const Tensor& t, int64_t dim) {
  return ops::narrow(t, dim, 1, t.size(dim) - 1);
}
Tensor without_last(const Tensor& t, int64_t dim) {
  return ops::narrow(t, dim, 0, t.size(dim) - 1);
}

Tensor joined(const Tensor& a, const Tensor& b, int64_t dim) {
  const Tensor parts[] = {a, b};
  return ops::cat(parts, dim);
}

// A single element, or none, is its own running total.
bool is_trivial(const Tensor& t) { return t.dim() == 0 || t.numel() == 0; }

}  // namespace

Tensor product_before(const Tensor& x, int64_t dim) {
  if (is_trivial(x)) return ops::ones_like(x);
  return ops::cumprod(joined(ops::ones_like(first(x, dim)), without_last(x, dim), dim), dim);
}

Tensor reversed_cumsum(const Tensor& grad, int64_t dim) {
  if (is_trivial(grad)) return grad;
  return ops::flip(ops::cumsum(ops::flip(grad, {dim}), dim), {dim});
}

// The product y[i] holds input[k] beside those before k and those from k + 1 to i. Summed over i,
// the latter obey s[k] = grad[k] + input[k + 1] * s[k + 1].
Tensor cumprod_backward(const Tensor& grad, const Tensor& input, int64_t dim) {
  if (is_trivial(input)) return grad;
  const Tensor x = conj(ops::to_dtype(input, grad.dtype()));
  return product_before(x, dim) * ops::_recurrence(grad, x, dim, true);
}

// The derivative of y[i] to input[k] is exp(input[k] - y[i]) = exp(input[k] - y[k]) * exp(y[k] -
// y[i]). As y grows, no exponent of the real case is positive; the second factors, summed over i,
// obey s[k] = grad[k] + exp(y[k] - y[k + 1]) * s[k + 1].
Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& input, const Tensor& result,
                             int64_t dim) {
  if (is_trivial(input)) return grad;
  const Tensor before = without_last(result, dim);
  const Tensor after = without_first(result, dim);
  // Equal infinities have no difference.
  const Tensor ratio = ops::exp(ops::masked_fill(before - after, ops::eq(before, after), 0));
  const Tensor factor = joined(ops::zeros_like(first(result, dim)), ratio, dim);
  return conj(ops::exp(input - result)) * ops::_recurrence(grad, conj(factor), dim, true);
}

Tensor recurrence_factor_backward(const Tensor& grad, const Tensor& factor, const Tensor& result,
                                  int64_t dim, bool reverse) {
  if (is_trivial(factor)) return ops::zeros_like(factor);
  const Tensor of_input = ops::_recurrence(grad, conj(factor), dim, !reverse);
  const Tensor& later = reverse ? result : of_input;
  const Tensor& earlier = reverse ? of_input : result;
  const Tensor a = without_first(later, dim);
  const Tensor b = without_last(earlier, dim);
  const Tensor rest = reverse ? conj(a) * b : a * conj(b);
  return joined(ops::zeros_like(first(factor, dim)), rest, dim);
}

}  // namespace fb::autograd::formula
