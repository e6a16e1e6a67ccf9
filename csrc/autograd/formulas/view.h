// What the gradients of views call.
#pragma once

#include "autograd/window.h"
#include "ops/types.h"

namespace fb::autograd::formula {

Tensor permute_backward(const Tensor& grad, IntSpan dims);
// Of any window on the storage of an input. Windows may overlap: positions that several elements
// read collect the gradients of all, and elements of the input that share a position share its
// gradient.
Tensor as_strided_backward(const Tensor& grad, const Window& input, IntSpan size, IntSpan stride,
                           std::optional<int64_t> storage_offset);

}  // namespace fb::autograd::formula
