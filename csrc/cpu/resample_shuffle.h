// Pixel shuffle and its inverse.
#pragma once

#include "cpu/isa.h"
#include "kernel/resample_shuffle.h"

namespace fb::cpu {

using kernel::PixelPlan;

FB_DECLARE_LEVELS(kernel::ResampleShuffle, channels_to_pixels)
FB_DECLARE_LEVELS(kernel::ResampleShuffle, pixels_to_channels)

}  // namespace fb::cpu
