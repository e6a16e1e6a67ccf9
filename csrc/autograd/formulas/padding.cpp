// The gradients of padding.
#include "autograd/formulas/padding.h"

#include "gen/ops/padding.h"
#include "ops/image.h"

namespace fb::autograd::formula {

Tensor unpad(const Tensor& grad, IntSpan pad) {
  Dims negated = pad.vec();
  for (int64_t& width : negated) width = -width;
  return ops::constant_pad_nd(grad, negated);
}

Tensor pad_backward(const Tensor& grad, const Window& input, IntSpan padding,
                    const std::string& mode) {
  const bool is_batch = input.sizes.size() == padding.size() / 2 + 2;
  const bool channels_last = is_batch && ops::has_channels_last(input.sizes, input.strides);
  return ops::_pad_backward(grad, input.sizes, channels_last, padding, mode);
}

}  // namespace fb::autograd::formula
