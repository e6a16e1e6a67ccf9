#include "autograd/formulas/activation.h"

#include "autograd/formula.h"
#include "gen/ops/activation.h"
#include "gen/ops/backward.h"
#include "gen/ops/explog.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"

namespace fb::autograd::formula {

using namespace ops;

Tensor softsign_backward(const Tensor& grad, const Tensor& input) {
  const Tensor size = 1 + ops::abs(input);
  if (!is_complex(input.dtype())) return grad / ops::square(size);
  const Tensor along = ops::real(conj(input) * grad) / ops::square(size);
  return grad / size - along * ops::sgn(input);
}

// The gradient of glu is (g s, g a s') for the halves a and b of the input and s = sigmoid(b).
std::array<Tensor, 2> glu_backward_gradients(const Tensor& grad, const Tensor& gradient,
                                             const Tensor& input, int64_t dim) {
  const int64_t half = input.size(dim) / 2;
  const auto first = [&](const Tensor& t) { return ops::narrow(t, dim, 0, half); };
  const auto second = [&](const Tensor& t) { return ops::narrow(t, dim, half, half); };
  const Tensor a = first(input), b = second(input), u = first(grad), v = second(grad);
  const Tensor halves[] = {
      ops::glu_gate_backward(v, gradient, b),
      ops::glu_gate_backward(gradient, u + v * a * (1 - 2 * ops::sigmoid(b)), b),
  };
  return {ops::gated(u, b) + ops::glu_gate_backward(v, a, b), ops::cat(halves, dim)};
}

}  // namespace fb::autograd::formula
