// Losses of scores for classes.
#pragma once

#include "cpu/isa.h"
#include "kernel/loss_classes.h"

namespace fb::cpu {

using kernel::ClassLosses;
using kernel::ClassTargets;
using kernel::SampleGradients;
using kernel::SoftTargets;

FB_DECLARE_LEVELS(kernel::LossClasses, score_statistics)
FB_DECLARE_LEVELS(kernel::LossClasses, all_class_losses)
FB_DECLARE_SLOT(kernel::LossClasses, class_losses)
FB_DECLARE_SLOT(kernel::LossClasses, cross_entropy_losses)
FB_DECLARE_LEVELS(kernel::LossClasses, cross_entropy_gradient)
FB_DECLARE_SLOT(kernel::LossClasses, nll_gradient)
FB_DECLARE_LEVELS(kernel::LossClasses, soft_target_losses)
FB_DECLARE_LEVELS(kernel::LossClasses, soft_target_gradient)
FB_DECLARE_SLOT(kernel::LossClasses, mark_classes)

// The factor of gradients of type T.
template <class T>
double scale_of(const SampleGradients& gradients) {
  const T* const divisor = static_cast<const T*>(gradients.divisor);
  return divisor ? gradients.scale / static_cast<double>(*divisor) : gradients.scale;
}

}  // namespace fb::cpu
