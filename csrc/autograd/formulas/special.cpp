#include "autograd/formulas/special.h"

#include "autograd/formula.h"
#include "gen/ops/special.h"

namespace fb::autograd::formula {

using namespace ops;

Tensor i1_backward(const Tensor& grad, const Tensor& input, const Tensor& result) {
  return grad * where(eq(input, 0), 0.5, i0(input) - result / input);
}

Tensor i1e_backward(const Tensor& grad, const Tensor& input, const Tensor& result) {
  const Tensor slope = i0e(input) - result * (sgn(input) + reciprocal(input));
  return grad * where(eq(input, 0), 0.5, slope);
}

Tensor mvlgamma_backward(const Tensor& grad, const Tensor& input, int64_t p) {
  Tensor slope = digamma(input);
  for (int64_t k = 1; k < p; ++k) slope = slope + digamma(input - 0.5 * static_cast<double>(k));
  return grad * slope;
}

// d/dy of the sum of (k + y)^-x is -x times the sum of (k + y)^-(x + 1).
Tensor zeta_backward(const Tensor& grad, const Operand& input, const Tensor& other) {
  if (input.is_tensor()) return -grad * (input.tensor() * zeta(input.tensor() + 1, other));
  const auto order = input.scalar().to<double>();
  return grad * (zeta(order + 1.0, other) * -order);
}

Tensor xlog1py_backward(const Tensor& grad, const Tensor& input, const Operand& other) {
  const Tensor zero = eq(input, 0);
  if (other.is_tensor()) return xlog1py(where(zero & le(other.tensor(), -1), 0, grad), other);
  return xlog1py(le(other.scalar(), -1) ? where(zero, 0, grad) : grad, other);
}

}  // namespace fb::autograd::formula
