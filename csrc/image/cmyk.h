// Conversion of CMYK inks to grey or RGB.
#pragma once

#include <cstdint>

namespace fb::image {

// a * b / 255, rounded.
inline int scaled(int a, int b) {
  const int product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

// Converts pixels of four inverted inks (255 is no ink, as in JPEG files) to pixels of one grey
// level or of red, green and blue.
inline void cmyk_to_light(const uint8_t* inks, int64_t count, uint8_t* pixels, int channels) {
  for (int64_t i = 0; i < count; ++i, inks += 4, pixels += channels) {
    int light[3];
    for (int c = 0; c < 3; ++c) light[c] = inks[3] - scaled(255 - inks[c], inks[3]);
    if (channels == 1) {
      // The weights of ITU-R 601 in 2^-16.
      *pixels = static_cast<uint8_t>(
          (light[0] * 19595 + light[1] * 38470 + light[2] * 7471 + 0x8000) >> 16);
    } else {
      for (int c = 0; c < 3; ++c) pixels[c] = static_cast<uint8_t>(light[c]);
    }
  }
}

}  // namespace fb::image
