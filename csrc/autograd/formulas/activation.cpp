#include "autograd/formulas/activation.h"

#include "gen/ops/activation.h"
#include "gen/ops/arith.h"
#include "gen/ops/complex.h"
#include "gen/ops/explog.h"
#include "gen/ops/trig.h"
#include "gen/ops/view.h"

namespace fb::autograd::formula {

using namespace ops;

// The slope of x t with t = tanh(softplus(x)).
Tensor mish_backward(const Tensor& grad, const Tensor& input) {
  const Tensor t = tanh(softplus(input));
  return mul(grad, add(t, mul(mul(input, sigmoid(input)), rsub(square(t), 1))));
}

Tensor softsign_backward(const Tensor& grad, const Tensor& input) {
  const Tensor size = add(abs(input), 1);
  if (!is_complex(input.dtype())) return div(grad, square(size));
  const Tensor along = div(real(mul(conj(input), grad)), square(size));
  return sub(div(grad, size), mul(along, sgn(input)));
}

}  // namespace fb::autograd::formula
