// What the derivatives of the parts of complex numbers are made of.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

// The angle changes across the direction of a complex number and nowhere along the real line.
Tensor angle_backward(const Tensor& grad, const Tensor& input);

}  // namespace fb::autograd::formula
