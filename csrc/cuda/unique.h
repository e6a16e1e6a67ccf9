// Groups of equal slices.
#pragma once

#include "cuda/slots.h"
#include "kernel/unique.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Unique, sorted_order)
FB_DECLARE_CUDA(kernel::Unique, group_equal)
FB_DECLARE_CUDA(kernel::Unique, distinct)

}  // namespace fb::cuda
