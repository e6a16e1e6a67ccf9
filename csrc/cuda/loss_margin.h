// Margins between the scores of classes, sample by sample.
#pragma once

#include "cuda/slots.h"
#include "kernel/loss_margin.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::LossMargin, margin_losses)
FB_DECLARE_CUDA(kernel::LossMargin, margin_gradient)

}  // namespace fb::cuda
