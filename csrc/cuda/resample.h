// Weighted sums along the dimensions of images.
#pragma once

#include "cuda/slots.h"
#include "kernel/resample.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Resample, resample)

}  // namespace fb::cuda
