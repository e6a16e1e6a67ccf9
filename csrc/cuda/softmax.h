// Softmax and its relatives.
#pragma once

#include "cuda/slots.h"
#include "kernel/softmax.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Softmax, softmax)
FB_DECLARE_CUDA(kernel::Softmax, softmax_backward)

}  // namespace fb::cuda
