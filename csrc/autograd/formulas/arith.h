// What the derivatives of arithmetic are made of.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

using ops::Operand;

// grad * conj(factor), and grad itself if the factor is 1.
Tensor scaled(const Tensor& grad, const Scalar& factor);

// The gradients of input ** exponent; at exponent 0 that of the base is 0, also where base is 0.
Tensor pow_backward(const Tensor& grad, const Tensor& input, const Operand& exponent);
// Base 0 counts as a constant 0 or 1 unless the exponent is negative.
Tensor pow_backward_exponent(const Tensor& grad, const Operand& input, const Tensor& exponent,
                             const Tensor& result);

// A complex sign changes only with the phase; a real one is constant.
Tensor sgn_backward(const Tensor& grad, const Tensor& input, const Tensor& result);

// Elements within the bounds (inclusive) get the gradient; otherwise the bound that replaced them
// does. If min > max, the upper bound wins.
Tensor clamp_backward(const Tensor& grad, const Tensor& input, const std::optional<Scalar>& min,
                      const std::optional<Scalar>& max);
Tensor clamp_backward(const Tensor& grad, const Tensor& input, const Tensor& min,
                      const Tensor& max);
Tensor clamp_backward_min(const Tensor& grad, const Tensor& input, const Tensor& min,
                          const Tensor& max);
Tensor clamp_backward_max(const Tensor& grad, const Tensor& input, const Tensor& min,
                          const Tensor& max);

}  // namespace fb::autograd::formula
