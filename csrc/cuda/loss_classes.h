// Losses of scores for classes.
#pragma once

#include "cuda/slots.h"
#include "kernel/loss_classes.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::LossClasses, score_statistics)
FB_DECLARE_CUDA(kernel::LossClasses, all_class_losses)
FB_DECLARE_CUDA(kernel::LossClasses, class_losses)
FB_DECLARE_CUDA(kernel::LossClasses, cross_entropy_losses)
FB_DECLARE_CUDA(kernel::LossClasses, cross_entropy_gradient)
FB_DECLARE_CUDA(kernel::LossClasses, nll_gradient)
FB_DECLARE_CUDA(kernel::LossClasses, soft_target_losses)
FB_DECLARE_CUDA(kernel::LossClasses, soft_target_gradient)
FB_DECLARE_CUDA(kernel::LossClasses, mark_classes)

}  // namespace fb::cuda
