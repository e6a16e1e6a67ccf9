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

namespace fb::image {

// Nothing if this build does without: the functions below are errors then.
cpu::Library jpeg_library();

enum class Channels { kUnchanged, kGray, kRgb };

struct JpegOptions {
  Channels channels = Channels::kUnchanged;
  bool upright = false;     // turn the image as its metadata says
  int64_t most_pixels = 0;  // a header that promises more is refused, before memory is taken
};

// The image (channels, height, width) of a file; the channels of a pixel are neighbours in memory.
// Damaged or unfinished files are errors that begin with `name`.
Tensor decode_jpeg(std::span<const uint8_t> file, const JpegOptions& options,
                   const std::string& name);

// The file, a tensor of bytes, of an image (1 or 3, height, width) of bytes.
Tensor encode_jpeg(const Tensor& image, int quality);

}  // namespace fb::image
