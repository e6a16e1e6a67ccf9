// The parts of a PNG file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "image/options.h"

namespace fb::image {

enum class PngColor : uint8_t { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgbAlpha = 6 };

struct PngHeader {
  int64_t width = 0, height = 0;
  int depth = 0;  // bits of a sample
  PngColor color = PngColor::kGray;
  bool is_interlaced = false;

  int samples() const;  // of a pixel
  int pixel_bits() const { return samples() * depth; }
  int64_t row_bytes(int64_t pixels) const { return (pixels * pixel_bits() + 7) / 8; }
};

struct PngFile {
  PngHeader header;
  // Red, green, blue and opacity by index; black where the file has no entry.
  std::array<std::array<uint8_t, 4>, 256> palette;
  std::optional<std::array<uint16_t, 3>> transparent;  // the grey or colour that is transparent
  int orientation = 1;
  std::vector<uint8_t> compressed;  // the rows, and kInflateSlack zeros
  size_t compressed_size() const;
};

// Parses a file and checks its checksums. Errors begin with `name`.
PngFile read_png(std::span<const uint8_t> file, const Options& options, const std::string& name);

}  // namespace fb::image
