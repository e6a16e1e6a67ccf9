// What the gradients of padding call.
#pragma once

#include <string>

#include "autograd/window.h"
#include "ops/types.h"

namespace fb::autograd::formula {

// Without the padding that constant_pad_nd put around it.
Tensor unpad(const Tensor& grad, IntSpan pad);
// `input` is the geometry of what was padded: its gradient lies in memory as it does.
Tensor pad_backward(const Tensor& grad, const Window& input, IntSpan padding,
                    const std::string& mode);

}  // namespace fb::autograd::formula
