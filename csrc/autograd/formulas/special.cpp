#include "autograd/formulas/special.h"

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/special.h"

namespace fb::autograd::formula {

using namespace ops;

Tensor i1_backward(const Tensor& grad, const Tensor& input, const Tensor& result) {
  const Tensor slope = sub(i0(input), div(result, input));
  return mul(grad, where(eq(input, 0), 0.5, slope));
}

Tensor i1e_backward(const Tensor& grad, const Tensor& input, const Tensor& result) {
  const Tensor decay = mul(result, add(sgn(input), reciprocal(input)));
  return mul(grad, where(eq(input, 0), 0.5, sub(i0e(input), decay)));
}

Tensor mvlgamma_backward(const Tensor& grad, const Tensor& input, int64_t p) {
  Tensor slope = digamma(input);
  for (int64_t k = 1; k < p; ++k)
    slope = add(slope, digamma(sub(input, 0.5 * static_cast<double>(k))));
  return mul(grad, slope);
}

// d/dy of the sum of (k + y)^-x is -x times the sum of (k + y)^-(x + 1).
Tensor zeta_backward(const Tensor& grad, const Operand& input, const Tensor& other) {
  if (input.is_tensor()) return mul(neg(grad), mul(input, zeta(add(input, 1), other)));
  const auto order = input.scalar().to<double>();
  return mul(grad, mul(zeta(order + 1.0, other), -order));
}

Tensor xlog1py_backward(const Tensor& grad, const Tensor& input, const Operand& other) {
  const Tensor zero = eq(input, 0);
  if (other.is_tensor())
    return xlog1py(where(logical_and(zero, le(other.tensor(), -1)), 0, grad), other);
  return xlog1py(other.scalar().to<double>() <= -1.0 ? where(zero, 0, grad) : grad, other);
}

}  // namespace fb::autograd::formula
