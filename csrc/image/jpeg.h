// JPEG files into tensors and back, by libjpeg-turbo.
//
// Pixels are those of every decoder on this library with its usual settings (the accurate integer
// transform, smooth upsampling), bit for bit.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/tensor.h"
#include "cpu/libraries.h"
#include "image/options.h"

namespace fb::image {

// Empty if this build has none: then the functions below raise.
cpu::Library jpeg_library();

// The image (channels, height, width) of a file; the channels of a pixel are adjacent in memory.
// Damaged or unfinished files are errors that begin with `name`.
Tensor decode_jpeg(std::span<const uint8_t> file, const Options& options, const std::string& name);

// The file, a tensor of bytes, of an image (1 or 3, height, width) of bytes.
Tensor encode_jpeg(const Tensor& image, int quality);

}  // namespace fb::image
