// What the derivatives of trigonometric functions are made of.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

// For complex numbers a product of two roots, which keeps to the branch of acosh.
Tensor acosh_backward(const Tensor& grad, const Tensor& input);

// 0 at zero, where the quotient is undefined.
Tensor sinc_backward(const Tensor& grad, const Tensor& input, const Tensor& result);

// 1 / (input^2 + other^2), but 0 at the origin.
Tensor inverse_square_norm(const Tensor& input, const Tensor& other);

}  // namespace fb::autograd::formula
