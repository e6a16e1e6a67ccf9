// Gradients of products of matrices and of distances between rows.
#include "autograd/formulas/matmul.h"

#include <cmath>

#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"

namespace fb::autograd::formula {
namespace {

// a / b, and 0 where b is 0, also for the gradient of the quotient.
Tensor divided_or_zero(const Tensor& a, const Tensor& b) {
  const Tensor is_zero = ops::eq(b, 0);
  return ops::masked_fill(a / ops::masked_fill(b, is_zero, 1), is_zero, 0);
}

// x to the power e, and 0 where x is 0, whatever e.
Tensor power_or_zero(const Tensor& x, double e) {
  const Tensor is_zero = ops::eq(x, 0);
  return ops::masked_fill(ops::power(ops::masked_fill(x, is_zero, 1), e), is_zero, 0);
}

// d distance / d difference, for differences (..., row1, row2, column).
Tensor slope(const Tensor& difference, double p, const Tensor& distance) {
  if (p == 1) return ops::sgn(difference);
  if (p == 2) return divided_or_zero(difference, distance);
  if (std::isinf(p)) {
    const Tensor is_largest = ops::eq(ops::abs(difference), distance);
    return ops::sgn(difference) * is_largest;
  }
  const Tensor size = ops::abs(difference);
  return ops::sgn(difference) * power_or_zero(size, p - 1) * power_or_zero(distance, 1 - p);
}

}  // namespace

Tensor product(const Tensor& a, const Tensor& b, bool by_columns) {
  if (by_columns) return transposed(product(transposed(b), transposed(a), false));
  return a.dim() == 2 ? ops::mm(a, b) : ops::bmm(a, b);
}

Tensor cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p,
                      const Tensor& distances) {
  if (p == 0) return ops::zeros_like(x1);
  const Tensor difference = ops::unsqueeze(x1, -2) - ops::unsqueeze(x2, -3);
  const Tensor slopes = slope(difference, p, ops::unsqueeze(distances, -1));
  return ops::sum(ops::unsqueeze(grad, -1) * slopes, IntSpan{-2});
}

Tensor euclidean_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2,
                          const Tensor& distances) {
  const Tensor ratio = divided_or_zero(grad, distances);
  return x1 * ops::sum(ratio, IntSpan{-1}, true) - ops::matmul(ratio, x2);
}

}  // namespace fb::autograd::formula
