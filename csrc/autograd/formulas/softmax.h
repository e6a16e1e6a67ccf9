// Parts of the derivatives of softmax and similar functions.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

// The gradient of softmax's gradient with respect to the result that it is computed from.
Tensor softmax_backward_output(const Tensor& grad, const Tensor& gradient, const Tensor& output,
                               int64_t dim);

Tensor logsumexp_backward(const Tensor& grad, const Tensor& input, const Tensor& result,
                          IntSpan dim, bool keepdim);

}  // namespace fb::autograd::formula
