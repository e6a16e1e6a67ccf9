#include "autograd/formulas/explog.h"

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/explog.h"

namespace fb::autograd::formula {

using namespace ops;

Tensor xlogy_backward(const Tensor& grad, const Tensor& input, const Operand& other) {
  const Tensor zero = eq(input, 0);
  if (other.is_tensor())
    return xlogy(where(logical_and(zero, le(other.tensor(), 0)), 0, grad), other);
  return xlogy(other.scalar().to<double>() <= 0.0 ? where(zero, 0, grad) : grad, other);
}

Tensor logit_backward(const Tensor& grad, const Tensor& input, std::optional<double> eps) {
  const Tensor inside =
      logical_and(ge(input, eps.value_or(0.0)), le(input, 1.0 - eps.value_or(0.0)));
  const Tensor slope = div(grad, mul(input, rsub(input, 1)));
  return where(inside, slope, eps ? 0.0 : std::numeric_limits<double>::quiet_NaN());
}

}  // namespace fb::autograd::formula
