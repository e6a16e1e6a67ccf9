// Leaving the graph.
#include "autograd/history.h"
#include "gen/ops/view.h"
#include "ops/layout.h"

namespace fb::ops {

Tensor detach(const Tensor& input) {
  settle(input);
  const Tensor result = autograd::detached(input);
  if (autograd::requires_grad(input)) {
    result->cut = autograd::cut_here("detach");
    result->flags |= kCut;
  } else if (input->flags & kCut) {
    result->cut = input->cut;
    result->flags |= kCut;
  }
  return result;
}

}  // namespace fb::ops
