// What the derivatives of linear maps are made of.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

// The gradient of the weight, which is input `number` of the operator; undefined where the run adds
// it up itself: see Note [Deferred weight gradients].
Tensor linear_weight_backward(const Tensor& grad, const Tensor& input, int64_t number);

}  // namespace fb::autograd::formula
