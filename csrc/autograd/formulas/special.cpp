#include "autograd/formulas/special.h"

#include "autograd/formula.h"
#include "gen/ops/special.h"

namespace fb::autograd::formula {

using namespace ops;

Tensor i1_backward(const Tensor& grad, const Tensor& input, const Tensor& result) {
  return grad * ops::where(ops::eq(input, 0), 0.5, ops::i0(input) - result / input);
}

Tensor i1e_backward(const Tensor& grad, const Tensor& input, const Tensor& result) {
  const Tensor slope = ops::i0e(input) - result * (ops::sgn(input) + ops::reciprocal(input));
  return grad * ops::where(ops::eq(input, 0), 0.5, slope);
}

Tensor mvlgamma_backward(const Tensor& grad, const Tensor& input, int64_t p) {
  Tensor slope = ops::digamma(input);
  for (int64_t k = 1; k < p; ++k)
    slope = slope + ops::digamma(input - 0.5 * static_cast<double>(k));
  return grad * slope;
}

// d/dy of the sum of (k + y)^-x is -x times the sum of (k + y)^-(x + 1).
Tensor zeta_backward(const Tensor& grad, const Operand& input, const Tensor& other) {
  if (input.is_tensor()) return -grad * (input.tensor() * ops::zeta(input.tensor() + 1, other));
  const auto order = input.scalar().to<double>();
  return grad * (ops::zeta(order + 1.0, other) * -order);
}

Tensor xlog1py_backward(const Tensor& grad, const Tensor& input, const Operand& other) {
  const Tensor zero = ops::eq(input, 0);
  if (other.is_tensor())
    return ops::xlog1py(ops::where(zero & ops::le(other.tensor(), -1), 0, grad), other);
  return ops::xlog1py(other.scalar().to<double>() <= -1 ? ops::where(zero, 0, grad) : grad, other);
}

}  // namespace fb::autograd::formula
