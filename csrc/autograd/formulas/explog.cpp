#include "autograd/formulas/explog.h"

#include "autograd/formula.h"
#include "gen/ops/explog.h"

namespace fb::autograd::formula {

using namespace ops;

Tensor xlogy_backward(const Tensor& grad, const Tensor& input, const Operand& other) {
  const Tensor zero = ops::eq(input, 0);
  if (other.is_tensor())
    return ops::xlogy(ops::where(zero & ops::le(other.tensor(), 0), 0, grad), other);
  return ops::xlogy(other.scalar().to<double>() <= 0 ? ops::where(zero, 0, grad) : grad, other);
}

Tensor logit_backward(const Tensor& grad, const Tensor& input, std::optional<double> eps) {
  const double least = eps.value_or(0.0);
  const Tensor beyond =
      ops::lt(input, least) | ops::gt(input, 1.0 - least);  // false for NaN, which stays
  const double outside = eps ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  return ops::where(beyond, outside, grad / (input * (1 - input)));
}

}  // namespace fb::autograd::formula
