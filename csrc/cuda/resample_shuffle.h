// Pixel shuffle and its inverse.
#pragma once

#include "cuda/slots.h"
#include "kernel/resample_shuffle.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::ResampleShuffle, channels_to_pixels)
FB_DECLARE_CUDA(kernel::ResampleShuffle, pixels_to_channels)

}  // namespace fb::cuda
