// What the derivatives of activation functions are made of.
#pragma once

#include <array>

#include "ops/types.h"

namespace fb::autograd::formula {

// The size in the denominator of a complex softsign changes too, along the input.
Tensor softsign_backward(const Tensor& grad, const Tensor& input);

// Of the gradient of glu, its derivatives by the gradient that came and by the input.
std::array<Tensor, 2> glu_backward_gradients(const Tensor& grad, const Tensor& gradient,
                                             const Tensor& input, int64_t dim);

}  // namespace fb::autograd::formula
