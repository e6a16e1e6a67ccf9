// What the gradients of running sums and products call.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

// The product of the elements before each one along `dim`, 1 for the first.
Tensor product_before(const Tensor& x, int64_t dim);

// The sum of the elements from each one to the end.
Tensor reversed_cumsum(const Tensor& grad, int64_t dim);
// Exact where elements are zero: nothing is divided.
Tensor cumprod_backward(const Tensor& grad, const Tensor& input, int64_t dim);
Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& input, const Tensor& result,
                             int64_t dim);
Tensor recurrence_factor_backward(const Tensor& grad, const Tensor& factor, const Tensor& result,
                                  int64_t dim, bool reverse);

}  // namespace fb::autograd::formula
