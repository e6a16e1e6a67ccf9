// Checks of elements that operators make before they compute, with answers for the host.
#pragma once

#include "cuda/slots.h"
#include "kernel/check.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Check, all_within)
FB_DECLARE_CUDA(kernel::Check, all_finite)
FB_DECLARE_CUDA(kernel::Check, has_zero)
FB_DECLARE_CUDA(kernel::Check, find_outside)
FB_DECLARE_CUDA(kernel::Check, all_rising)

}  // namespace fb::cuda
