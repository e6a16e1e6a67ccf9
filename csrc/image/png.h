// PNG files into tensors and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/tensor.h"
#include "image/options.h"

namespace fb::image {

// The image (channels, height, width) of a file: bytes, or int32 where the file has 16 bits. The
// channels of a pixel are adjacent in memory. Palette indices stay indices unless channels are
// asked for. Damaged or unfinished files are errors that begin with `name`.
Tensor decode_png(std::span<const uint8_t> file, const Options& options, const std::string& name);

// The rows of an image (1 to 4, height, width) of bytes as its file has them before compression:
// each after the number of the filter with the smallest differences.
Tensor filter_png(const Tensor& image);

}  // namespace fb::image
