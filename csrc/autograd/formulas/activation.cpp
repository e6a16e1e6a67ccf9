#include "autograd/formulas/activation.h"

#include "autograd/formula.h"
#include "gen/ops/activation.h"
#include "gen/ops/explog.h"
#include "gen/ops/trig.h"
#include "gen/ops/view.h"

namespace fb::autograd::formula {

using namespace ops;

// The slope of x t with t = tanh(softplus(x)).
Tensor mish_backward(const Tensor& grad, const Tensor& input) {
  const Tensor t = tanh(softplus(input));
  return grad * (t + input * sigmoid(input) * (1 - square(t)));
}

Tensor softsign_backward(const Tensor& grad, const Tensor& input) {
  const Tensor size = 1 + abs(input);
  if (!is_complex(input.dtype())) return grad / square(size);
  const Tensor along = real(conj(input) * grad) / square(size);
  return grad / size - along * sgn(input);
}

}  // namespace fb::autograd::formula
