// Pixels spread over channels, and back.
#pragma once

#include <cstdint>

#include "cpu/isa.h"

namespace fb::cpu {

// Contiguous arrays of elements of `width` bytes: (planes, factor, factor, rows, columns), the
// channels, and (planes, rows, factor, columns, factor), the pixels.
struct PixelPlan {
  int64_t planes, rows, columns, factor;
  int64_t width;
};

FB_DECLARE_KERNEL(void, channels_to_pixels, const PixelPlan& plan, const void* channels,
                  void* pixels)
FB_DECLARE_KERNEL(void, pixels_to_channels, const PixelPlan& plan, const void* pixels,
                  void* channels)

}  // namespace fb::cpu
