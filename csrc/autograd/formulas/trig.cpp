#include "autograd/formulas/trig.h"

#include <numbers>

#include "autograd/formula.h"
#include "gen/ops/explog.h"
#include "gen/ops/trig.h"

namespace fb::autograd::formula {

using namespace ops;

Tensor acosh_backward(const Tensor& grad, const Tensor& input) {
  if (!is_complex(input.dtype())) return grad * ops::rsqrt(ops::square(input) - 1);
  return grad * conj(ops::rsqrt(input + 1) * ops::rsqrt(input - 1));
}

Tensor sinc_backward(const Tensor& grad, const Tensor& input, const Tensor& result) {
  const Tensor slope = (ops::cos(input * std::numbers::pi) - result) / input;
  return grad * conj(ops::where(ops::eq(input, 0), 0, slope));
}

Tensor inverse_square_norm(const Tensor& input, const Tensor& other) {
  const Tensor norm = ops::square(input) + ops::square(other);
  return ops::where(ops::eq(norm, 0), 0, ops::reciprocal(norm));
}

}  // namespace fb::autograd::formula
