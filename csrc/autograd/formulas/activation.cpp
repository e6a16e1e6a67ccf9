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
  const Tensor size = 1 + abs(input);
  if (!is_complex(input.dtype())) return grad / square(size);
  const Tensor along = real(conj(input) * grad) / square(size);
  return grad / size - along * sgn(input);
}

Tensor glu_backward(const Tensor& grad, const Tensor& input, int64_t dim) {
  const int64_t half = input.size(dim) / 2;
  const Tensor s = sigmoid(narrow(input, dim, half, half));
  const Tensor gate = sigmoid_backward(grad * narrow(input, dim, 0, half), s);
  const Tensor parts[] = {grad * s, gate};
  return cat(parts, dim);
}

}  // namespace fb::autograd::formula
