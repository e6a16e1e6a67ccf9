// The gradients of views.
#include "autograd/formulas/view.h"

#include "autograd/formula.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/view.h"

namespace fb::autograd::formula {
namespace {

// Where in the storage the elements of a window lie, in their order.
Tensor positions_of(const Window& window, Device device) {
  Tensor positions = ops::full({}, window.offset, DType::kInt64, device);
  for (size_t d = 0; d < window.sizes.size(); ++d)
    positions = ops::unsqueeze(positions, -1) +
                ops::arange(window.sizes[d], DType::kInt64, device) * window.strides[d];
  return ops::reshape(positions, {-1});
}

// One more than the last element that a window reaches.
int64_t end_of(const Window& window) {
  int64_t last = window.offset;
  for (size_t d = 0; d < window.sizes.size(); ++d) {
    if (window.sizes[d] == 0) return 0;
    last += (window.sizes[d] - 1) * window.strides[d];
  }
  return last + 1;
}

}  // namespace

Tensor permute_backward(const Tensor& grad, IntSpan dims) {
  Dims inverse(dims.size(), 0);
  const Dims order = wrap_dims(dims, ndim_of(dims));
  for (size_t d = 0; d < order.size(); ++d) inverse[order[d]] = static_cast<int64_t>(d);
  return ops::permute(grad, inverse);
}

Tensor as_strided_backward(const Tensor& grad, const Window& input, IntSpan size, IntSpan stride,
                           std::optional<int64_t> storage_offset) {
  const Window result{size.vec(), stride.vec(), storage_offset.value_or(input.offset)};
  const Tensor zeros = ops::new_zeros(grad, {std::max(end_of(result), end_of(input))});
  const Tensor storage =
      ops::index_add(zeros, 0, positions_of(result, grad.device()), ops::reshape(grad, {-1}));
  const Tensor positions = positions_of(input, grad.device());
  const Tensor owners = ops::index_add(zeros, 0, positions, ops::new_ones(grad, positions.sizes()));
  const Tensor shares =
      ops::index_select(storage, 0, positions) / ops::index_select(owners, 0, positions);
  return ops::reshape(shares, input.sizes);
}

}  // namespace fb::autograd::formula
