// Losses that are a function of each element, and how they are summed and differentiated.
#pragma once

#include "cuda/slots.h"
#include "kernel/loss.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Loss, loss_elements)
FB_DECLARE_CUDA(kernel::Loss, loss_sum)
FB_DECLARE_CUDA(kernel::Loss, loss_gradient)
FB_DECLARE_CUDA(kernel::Loss, sum_losses)
FB_DECLARE_CUDA(kernel::Loss, check_losses)

}  // namespace fb::cuda
