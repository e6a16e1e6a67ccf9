// Gradients of small operators on matrices.
#include "autograd/formulas/matrices.h"

#include "gen/ops/arith.h"
#include "gen/ops/create.h"

namespace fb::autograd::formula {

Tensor trace_backward(const Tensor& grad, IntSpan sizes) {
  return ops::mul(grad, ops::eye(sizes[0], sizes[1], grad.dtype(), grad.device()));
}

}  // namespace fb::autograd::formula
