// What the derivatives of activation functions are made of.
#pragma once

#include <array>

#include "ops/types.h"

namespace fb::autograd::formula {

// The denominator of a complex softsign also depends on the input's absolute value.
Tensor softsign_backward(const Tensor& grad, const Tensor& input);

// The derivatives of glu's gradient with respect to the incoming gradient and to the input.
std::array<Tensor, 2> glu_backward_gradients(const Tensor& grad, const Tensor& gradient,
                                             const Tensor& input, int64_t dim);

}  // namespace fb::autograd::formula
