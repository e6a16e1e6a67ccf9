// What convolutions share with their derivatives.
#pragma once

#include "ops/types.h"

namespace fb::ops {

// The gradient of a convolution's result in the memory order that all further gradients want;
// unchanged if it carries more than elements.
Tensor ordered_gradient(const Tensor& gradient, const Tensor& input, const Tensor& weight,
                        IntSpan stride, IntSpan padding, IntSpan dilation, bool transposed,
                        IntSpan output_padding, int64_t groups);

}  // namespace fb::ops
