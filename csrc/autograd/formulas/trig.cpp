#include "autograd/formulas/trig.h"

#include <numbers>

#include "autograd/formula.h"
#include "gen/ops/explog.h"
#include "gen/ops/trig.h"

namespace fb::autograd::formula {

using namespace ops;

Tensor acosh_backward(const Tensor& grad, const Tensor& input) {
  if (!is_complex(input.dtype())) return grad * rsqrt(square(input) - 1);
  return grad * conj(rsqrt(input + 1) * rsqrt(input - 1));
}

Tensor sinc_backward(const Tensor& grad, const Tensor& input, const Tensor& result) {
  const Tensor slope = (cos(input * std::numbers::pi) - result) / input;
  return grad * conj(where(eq(input, 0), 0, slope));
}

Tensor inverse_square_norm(const Tensor& input, const Tensor& other) {
  const Tensor norm = square(input) + square(other);
  return where(eq(norm, 0), 0, reciprocal(norm));
}

}  // namespace fb::autograd::formula
