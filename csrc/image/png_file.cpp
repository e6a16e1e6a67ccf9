// The parts of a PNG file.
#include "image/png_file.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/crc32.h"
#include "core/error.h"
#include "image/exif.h"
#include "image/inflate.h"

namespace fb::image {
namespace {

constexpr uint8_t kSignature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

uint32_t number_at(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

bool is_letter(uint8_t byte) { return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z'; }

struct Chunk {
  std::string_view type;
  std::span<const uint8_t> data;
  bool is_whole;  // its checksum is correct

  // A decoder that does not know it cannot show the image.
  bool is_critical() const { return (type[0] & 0x20) == 0; }
};

class Reader {
 public:
  Reader(std::span<const uint8_t> file, const Options& options, const std::string& name)
      : rest_(file), options_(options), name_(name) {}

  PngFile read() {
    FB_CHECK(rest_.size() >= sizeof(kSignature) &&
                 std::memcmp(rest_.data(), kSignature, sizeof(kSignature)) == 0,
             name_, ": Content is not png!");
    rest_ = rest_.subspan(sizeof(kSignature));
    file_.palette.fill({0, 0, 0, 255});
    const Chunk first = next();
    FB_CHECK(first.type == "IHDR", name_, ": a PNG file without a header");
    read_header(first.data);
    Chunk chunk = next();
    for (; chunk.type != "IDAT"; chunk = next()) read_part(chunk);
    file_.compressed.reserve(chunk.data.size() + rest_.size() + kInflateSlack);
    // Chunks after the rows do not concern them, and may be missing.
    while (true) {
      file_.compressed.insert(file_.compressed.end(), chunk.data.begin(), chunk.data.end());
      if (rest_.empty() || (chunk = next()).type != "IDAT") break;
    }
    file_.compressed.resize(file_.compressed.size() + kInflateSlack);
    return std::move(file_);
  }

 private:
  Chunk next() {
    constexpr size_t kFrame = 12;  // length, type and checksum
    const size_t size = rest_.size() < kFrame ? 0 : number_at(rest_.data());
    FB_CHECK(rest_.size() >= kFrame && size <= rest_.size() - kFrame, name_,
             ": Image is incomplete or truncated");
    const std::span type = rest_.subspan(4, 4);
    FB_CHECK(std::ranges::all_of(type, is_letter), name_,
             ": damaged, the name of a part is not four letters");
    const Chunk chunk{{reinterpret_cast<const char*>(type.data()), type.size()},
                      rest_.subspan(8, size),
                      crc32(rest_.data() + 4, size + 4) == number_at(rest_.data() + 8 + size)};
    FB_CHECK(chunk.is_whole || !chunk.is_critical(), name_, ": damaged, the checksum of ",
             chunk.type, " is wrong");
    rest_ = rest_.subspan(kFrame + size);
    return chunk;
  }

  void read_header(std::span<const uint8_t> data) {
    FB_CHECK(data.size() == 13, name_, ": Invalid IHDR data");
    PngHeader& header = file_.header;
    header.width = number_at(data.data());
    header.height = number_at(data.data() + 4);
    header.depth = data[8];
    header.color = static_cast<PngColor>(data[9]);
    header.is_interlaced = data[12] == 1;
    constexpr int64_t kMost = (int64_t{1} << 31) - 1;
    FB_CHECK(header.width > 0 && header.height > 0 && header.width <= kMost &&
                 header.height <= kMost && is_depth(header) && data[10] == 0 && data[11] == 0 &&
                 data[12] <= 1,
             name_, ": Invalid IHDR data");
    check_pixels(header.width, header.height, options_, name_);
  }

  static bool is_depth(const PngHeader& header) {
    const bool is_power = header.depth == 1 || header.depth == 2 || header.depth == 4;
    const bool is_wide = header.depth == 16;
    switch (header.color) {
      case PngColor::kGray: return is_power || is_wide || header.depth == 8;
      case PngColor::kPalette: return is_power || header.depth == 8;
      case PngColor::kRgb:
      case PngColor::kGrayAlpha:
      case PngColor::kRgbAlpha: return is_wide || header.depth == 8;
      default: return false;
    }
  }

  void read_part(const Chunk& chunk) {
    if (chunk.type == "PLTE") {
      read_palette(chunk.data);
    } else if (chunk.is_critical()) {
      fail(ErrorKind::kRuntime, name_, ": a PNG file with an unknown part ", chunk.type);
    } else if (chunk.is_whole && chunk.type == "tRNS") {
      read_transparency(chunk.data);
    } else if (chunk.is_whole && chunk.type == "eXIf" && options_.upright) {
      file_.orientation = exif_orientation(chunk.data);
    }
  }

  void read_palette(std::span<const uint8_t> data) {
    FB_CHECK(data.size() % 3 == 0 && data.size() <= 3 * file_.palette.size(), name_,
             ": Invalid palette");
    for (size_t i = 0; i < data.size(); ++i) file_.palette[i / 3][i % 3] = data[i];
  }

  void read_transparency(std::span<const uint8_t> data) {
    if (file_.header.color == PngColor::kPalette) {
      for (size_t i = 0; i < std::min(data.size(), file_.palette.size()); ++i)
        file_.palette[i][3] = data[i];
      return;
    }
    const size_t samples = static_cast<size_t>(file_.header.samples());
    if (samples % 2 == 0 || data.size() != 2 * samples) return;
    file_.transparent.emplace();
    for (size_t i = 0; i < samples; ++i)
      (*file_.transparent)[i] = static_cast<uint16_t>(data[2 * i] << 8 | data[2 * i + 1]);
  }

  std::span<const uint8_t> rest_;
  const Options& options_;
  const std::string& name_;
  PngFile file_;
};

}  // namespace

int PngHeader::samples() const {
  switch (color) {
    case PngColor::kRgb: return 3;
    case PngColor::kGrayAlpha: return 2;
    case PngColor::kRgbAlpha: return 4;
    default: return 1;
  }
}

size_t PngFile::compressed_size() const { return compressed.size() - kInflateSlack; }

PngFile read_png(std::span<const uint8_t> file, const Options& options, const std::string& name) {
  return Reader(file, options, name).read();
}

}  // namespace fb::image
