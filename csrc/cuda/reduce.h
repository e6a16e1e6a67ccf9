// Reductions over any set of dimensions.
#pragma once

#include "cuda/slots.h"
#include "kernel/reduce.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Reduce, reduce)

}  // namespace fb::cuda
