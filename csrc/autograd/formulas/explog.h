// What the derivatives of exponentials and logarithms are made of.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

using ops::Operand;

// grad * log(other), but 0 where input is 0 and the logarithm would not be finite.
Tensor xlogy_backward(const Tensor& grad, const Tensor& input, const Operand& other);

// Outside [eps, 1 - eps] logit is constant; without eps it is NaN outside [0, 1].
Tensor logit_backward(const Tensor& grad, const Tensor& input, std::optional<double> eps);

}  // namespace fb::autograd::formula
