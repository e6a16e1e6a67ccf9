// Second derivatives of the most common activation functions.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

Tensor silu_curvature(const Tensor& input);
Tensor softplus_curvature(const Tensor& input, double beta, double threshold);
Tensor gelu_curvature(const Tensor& input);
Tensor gelu_tanh_curvature(const Tensor& input);
Tensor mish_curvature(const Tensor& input);

}  // namespace fb::autograd::formula
