// The gradient of distinct elements and slices.
#include "autograd/formulas/unique.h"

#include "autograd/formula.h"
#include "gen/ops/index.h"
#include "gen/ops/view.h"

namespace fb::autograd::formula {

Tensor unique_backward(const Tensor& grad, const Tensor& inverse, const Tensor& counts,
                       std::optional<int64_t> dim) {
  if (!dim || inverse.dim() == 0) {
    const Tensor shares = ops::index_select(grad / counts, 0, ops::reshape(inverse, {-1}));
    return ops::reshape(shares, inverse.sizes());
  }
  const int64_t d = wrap_dim(*dim, grad.dim());
  Dims along(static_cast<size_t>(grad.dim()), 1);
  along[d] = counts.numel();
  return ops::index_select(grad / ops::reshape(counts, along), d, inverse);
}

}  // namespace fb::autograd::formula
