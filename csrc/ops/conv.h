// What convolutions share with their derivatives.
#pragma once

#include "ops/types.h"

namespace fb::ops {

// The gradient of a convolution's result, its elements in the order that all further gradients
// want; as it is where it is more than its elements.
Tensor ordered_gradient(const Tensor& gradient, const Tensor& input, const Tensor& weight);

}  // namespace fb::ops
