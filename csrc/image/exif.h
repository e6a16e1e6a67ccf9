// The orientation in an image's Exif metadata.
#pragma once

#include <cstdint>
#include <span>

#include "core/tensor.h"

namespace fb::image {

// The orientation 1 to 8 in the metadata of a file (TIFF's tags, after the "Exif" of a JPEG's
// segment); 1, upright, if there is no valid one.
int exif_orientation(std::span<const uint8_t> tags);

// The image (channels, height, width), rotated and mirrored upright.
Tensor oriented(const Tensor& image, int orientation);

}  // namespace fb::image
