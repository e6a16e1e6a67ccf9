// Grids of points on images.
#pragma once

#include "core/tensor.h"

namespace fb::ops {

// The pixels of an image of `size` (N, C, ...) as points in [-1, 1], each with a 1 behind its
// coordinates: (N, pixels, coordinates + 1).
Tensor pixel_grid(IntSpan size, bool align_corners, DType dtype, Device device);

}  // namespace fb::ops
