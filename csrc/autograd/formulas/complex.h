// What the derivatives of the parts of complex numbers are made of.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

// The angle changes perpendicular to a complex number's direction; on the real line it is constant.
Tensor angle_backward(const Tensor& grad, const Tensor& input);

}  // namespace fb::autograd::formula
