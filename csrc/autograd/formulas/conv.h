// What the derivatives of convolutions are made of.
#pragma once

#include <array>

#include "ops/types.h"

namespace fb::autograd::formula {

// The gradients of input, weight and bias, as far as they are needed.
std::array<Tensor, 3> convolution_backward(const Tensor& grad, const Tensor& input,
                                           const Tensor& weight, IntSpan stride, IntSpan padding,
                                           IntSpan dilation, bool transposed,
                                           IntSpan output_padding, int64_t groups,
                                           const std::array<bool, 3>& needed);

}  // namespace fb::autograd::formula
