#include "autograd/formulas/trig.h"

#include <numbers>

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/complex.h"
#include "gen/ops/explog.h"
#include "gen/ops/trig.h"

namespace fb::autograd::formula {

using namespace ops;

Tensor acosh_backward(const Tensor& grad, const Tensor& input) {
  if (!is_complex(input.dtype())) return mul(grad, rsqrt(sub(square(input), 1)));
  return mul(grad, conj(mul(rsqrt(add(input, 1)), rsqrt(sub(input, 1)))));
}

Tensor sinc_backward(const Tensor& grad, const Tensor& input, const Tensor& result) {
  const Tensor slope = div(sub(cos(mul(input, std::numbers::pi)), result), input);
  return mul(grad, conj(where(eq(input, 0), 0, slope)));
}

Tensor inverse_square_norm(const Tensor& input, const Tensor& other) {
  const Tensor norm = add(square(input), square(other));
  return where(eq(norm, 0), 0, reciprocal(norm));
}

}  // namespace fb::autograd::formula
