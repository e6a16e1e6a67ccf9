// Pixel shuffle and its inverse.
#pragma once

#include <cstdint>

#include "kernel/slot.h"

namespace fb::kernel {

// Contiguous arrays of elements of `width` bytes: (planes, factor, factor, rows, columns), the
// channels, and (planes, rows, factor, columns, factor), the pixels.
struct PixelPlan {
  int64_t planes, rows, columns, factor;
  int64_t width;
};

struct ResampleShuffle {
  Slot<void(const PixelPlan& plan, const void* channels, void* pixels)> channels_to_pixels;
  Slot<void(const PixelPlan& plan, const void* pixels, void* channels)> pixels_to_channels;
};

}  // namespace fb::kernel
