// What the gradient of distinct elements calls.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

// All that are equal share the gradient of the one that stands for them.
Tensor unique_backward(const Tensor& grad, const Tensor& inverse, const Tensor& counts,
                       std::optional<int64_t> dim);

}  // namespace fb::autograd::formula
