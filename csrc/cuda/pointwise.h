// Pointwise operators.
#pragma once

#include "cuda/slots.h"
#include "kernel/pointwise.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Pointwise, pointwise_run)
FB_DECLARE_CUDA(kernel::Pointwise, pointwise)
FB_DECLARE_CUDA(kernel::Pointwise, frexp)

}  // namespace fb::cuda
