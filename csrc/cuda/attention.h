// Scaled dot product attention.
#pragma once

#include "cuda/slots.h"
#include "kernel/attention.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Attention, attention_supports)
FB_DECLARE_CUDA(kernel::Attention, attention)
FB_DECLARE_CUDA(kernel::Attention, attention_backward)

}  // namespace fb::cuda
