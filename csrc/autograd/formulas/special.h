// What the derivatives of special functions are made of.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

using ops::Operand;

// The derivatives of the Bessel functions divide by the input; at zero they are 1/2.
Tensor i1_backward(const Tensor& grad, const Tensor& input, const Tensor& result);
Tensor i1e_backward(const Tensor& grad, const Tensor& input, const Tensor& result);

Tensor mvlgamma_backward(const Tensor& grad, const Tensor& input, int64_t p);

Tensor zeta_backward(const Tensor& grad, const Operand& input, const Tensor& other);

// grad * log1p(other), but 0 where input is 0 and the logarithm would not be finite.
Tensor xlog1py_backward(const Tensor& grad, const Tensor& input, const Operand& other);

}  // namespace fb::autograd::formula
