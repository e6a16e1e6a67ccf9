// The orientation that cameras note beside an image.
#pragma once

#include <cstdint>
#include <span>

#include "core/tensor.h"

namespace fb::image {

// The orientation 1 to 8 in the metadata of a file (TIFF's tags, after the "Exif" of a JPEG's
// segment); 1, upright, where there is none that makes sense.
int exif_orientation(std::span<const uint8_t> tags);

// The image (channels, height, width) as it is to be seen.
Tensor oriented(const Tensor& image, int orientation);

}  // namespace fb::image
