// What the derivatives of softmax and its kin are made of.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

Tensor logsumexp_backward(const Tensor& grad, const Tensor& input, const Tensor& result,
                          IntSpan dim, bool keepdim);

}  // namespace fb::autograd::formula
