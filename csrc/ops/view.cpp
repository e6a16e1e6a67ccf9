// Windows on the same elements.
#include "gen/ops/view.h"

namespace fb::ops {

Tensor transpose(const Tensor& input, int64_t dim0, int64_t dim1) {
  const int64_t a = wrap_dim(dim0, input.dim());
  const int64_t b = wrap_dim(dim1, input.dim());
  if (input.dim() == 0) return as_view(input, {}, {});
  Dims sizes = input.sizes().vec();
  Dims strides = input.strides().vec();
  std::swap(sizes[a], sizes[b]);
  std::swap(strides[a], strides[b]);
  return as_view(input, sizes, strides);
}

}  // namespace fb::ops
