// What the derivatives of convolutions with moved taps are made of.
#pragma once

#include <array>

#include "gen/ops/reduce.h"
#include "gen/ops/vision.h"

namespace fb::autograd::formula {

// The gradients of input, offset, mask, weight and bias, as far as they are needed.
inline std::array<Tensor, 5> deform_conv2d_backward(const Tensor& grad, const Tensor& input,
                                                    const Tensor& offset, const Tensor& mask,
                                                    const Tensor& weight, IntSpan stride,
                                                    IntSpan padding, IntSpan dilation,
                                                    const std::array<bool, 5>& needed) {
  std::array<Tensor, 5> result;
  if (needed[0] || needed[1] || needed[2] || needed[3]) {
    auto [to_input, to_offset, to_mask, to_weight] =
        ops::_deform_conv2d_backward(grad, input, offset, mask, weight, stride, padding, dilation);
    result = {to_input, to_offset, mask.defined() ? to_mask : Tensor(), to_weight, Tensor()};
  }
  if (needed[4]) result[4] = ops::sum(grad, IntSpan(Dims{0, 2, 3}));
  return result;
}

}  // namespace fb::autograd::formula
