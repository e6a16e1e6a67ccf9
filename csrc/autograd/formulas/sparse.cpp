#include "autograd/formulas/sparse.h"

#include "autograd/sparse.h"
#include "gen/ops/copy.h"
#include "gen/ops/index.h"
#include "gen/ops/sparse.h"
#include "gen/ops/view.h"
#include "ops/sparse.h"

namespace fb::autograd::formula {

Tensor sparse_coo_backward(const Tensor& grad, const Tensor& indices) {
  const Tensor dense = ops::to_dense(grad);
  std::vector<Tensor> positions;
  for (int64_t d = 0; d < indices.size(0); ++d) positions.push_back(ops::select(indices, 0, d));
  if (!positions.empty()) return ops::index(dense, positions);
  Dims sizes{indices.size(1)};
  for (const int64_t size : dense.sizes()) sizes.push_back(size);
  return ops::expand(dense, sizes);
}

Tensor to_dense_backward(const Tensor& grad, const Tensor& input, bool masked) {
  return masked ? ops::sparse_mask(ops::to_dense(grad), ops::coalesce(input)) : grad;
}

Tensor values_backward(const Tensor& grad, const Tensor& input) {
  return ops::_sparse_coo_tensor(ops::_indices(input), grad, input.sizes(), true);
}

Tensor sparse_mask_backward(const Tensor& grad, const Tensor& mask) {
  // A position that the mask names twice was taken twice.
  return ops::to_dense(ops::sparse_mask(ops::to_dense(grad), mask));
}

}  // namespace fb::autograd::formula
