// Gradients of small operators on matrices.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

// Of a matrix of the given size, whose trace has the gradient `grad`.
Tensor trace_backward(const Tensor& grad, IntSpan sizes);

}  // namespace fb::autograd::formula
