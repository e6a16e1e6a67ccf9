// Images of bytes.
#pragma once

#include "ops/separable.h"

namespace fb::ops {

// An image (N, C, H, W) of bytes in the sizes that the maps of its height and width give it: see
// Note [Sums of bytes] in kernel/pixels.h. Channels that are adjacent in memory stay so.
Tensor resize_bytes(const Tensor& image, const Separable& maps, int bits = 0);

}  // namespace fb::ops
