// Options of a decoder, whatever the format.
#pragma once

#include <cstdint>
#include <string>

namespace fb::image {

// The numbers are those of ImageReadMode in flambeau.vision.io.
enum class Channels { kUnchanged, kGray, kGrayAlpha, kRgb, kRgbAlpha };

struct Options {
  Channels channels = Channels::kUnchanged;
  bool upright = false;     // rotate the image as its metadata says
  int64_t most_pixels = 0;  // refuse a header with more, before memory is allocated
};

// Refuses an image that is larger than the limit.
void check_pixels(int64_t width, int64_t height, const Options& options, const std::string& name);

}  // namespace fb::image
