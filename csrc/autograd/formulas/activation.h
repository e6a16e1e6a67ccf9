// What the derivatives of activation functions are made of.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

// The size in the denominator of a complex softsign changes too, along the input.
Tensor softsign_backward(const Tensor& grad, const Tensor& input);

Tensor glu_backward(const Tensor& grad, const Tensor& input, int64_t dim);

}  // namespace fb::autograd::formula
