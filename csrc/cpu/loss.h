// Losses that are a function of each element, and how they are summed and differentiated.
#pragma once

#include "cpu/isa.h"
#include "kernel/loss.h"

namespace fb::cpu {

using kernel::LossCall;
using kernel::LossKind;

FB_DECLARE_LEVELS(kernel::Loss, loss_elements)
FB_DECLARE_LEVELS(kernel::Loss, loss_sum)
FB_DECLARE_LEVELS(kernel::Loss, loss_gradient)
FB_DECLARE_SLOT(kernel::Loss, sum_losses)
FB_DECLARE_SLOT(kernel::Loss, check_losses)

// A number as the single element of `out`, of float32 or float64.
inline void put_number(DType dtype, double value, void* out) {
  if (dtype == DType::kFloat32)
    *static_cast<float*>(out) = static_cast<float>(value);
  else
    *static_cast<double*>(out) = value;
}

}  // namespace fb::cpu
