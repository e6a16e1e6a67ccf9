// Sequences of numbers.
#pragma once

#include "cuda/slots.h"
#include "kernel/copy.h"
#include "kernel/create.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Create, arange)
FB_DECLARE_CUDA(kernel::Create, linspace)
FB_DECLARE_CUDA(kernel::Create, logspace)
FB_DECLARE_CUDA(kernel::Create, triangle_indices)
FB_DECLARE_CUDA(kernel::Copy, clear_triangle)

}  // namespace fb::cuda
