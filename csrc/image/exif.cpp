// The orientation in an image's Exif metadata.
#include "image/exif.h"

#include <optional>

#include "gen/ops/shape.h"

namespace fb::image {
namespace {

constexpr int kUpright = 1;

// Numbers in the file's byte order; none past the end of the file.
class Numbers {
 public:
  Numbers(std::span<const uint8_t> bytes, bool is_little) : bytes_(bytes), is_little_(is_little) {}

  std::optional<uint32_t> at(size_t offset, size_t count) const {
    if (offset > bytes_.size() || bytes_.size() - offset < count) return std::nullopt;
    uint32_t value = 0;
    for (size_t i = 0; i < count; ++i)
      value = value << 8 | bytes_[offset + (is_little_ ? count - 1 - i : i)];
    return value;
  }

 private:
  std::span<const uint8_t> bytes_;
  bool is_little_;
};

Tensor transposed(const Tensor& image) {
  const IntSpan sizes = image.sizes(), strides = image.strides();
  return inner_view(image, {sizes[0], sizes[2], sizes[1]}, {strides[0], strides[2], strides[1]},
                    image.offset());
}

}  // namespace

int exif_orientation(std::span<const uint8_t> tags) {
  constexpr uint32_t kMagic = 42, kOrientation = 0x0112, kShort = 3;
  if (tags.size() < 8 || tags[0] != tags[1] || (tags[0] != 'I' && tags[0] != 'M')) return kUpright;
  const Numbers numbers(tags, tags[0] == 'I');
  if (numbers.at(2, 2) != kMagic) return kUpright;
  const size_t directory = *numbers.at(4, 4);
  const size_t count = numbers.at(directory, 2).value_or(0);
  for (size_t i = 0; i < count; ++i) {
    const size_t entry = directory + 2 + 12 * i;
    const auto tag = numbers.at(entry, 2), type = numbers.at(entry + 2, 2);
    const auto value = numbers.at(entry + 8, 2);
    if (!value) return kUpright;
    if (tag == kOrientation)
      return type == kShort && *value >= 1 && *value <= 8 ? static_cast<int>(*value) : kUpright;
  }
  return kUpright;
}

Tensor oriented(const Tensor& image, int orientation) {
  constexpr int64_t kHeight = 1, kWidth = 2;
  // From 5 on rows and columns are exchanged.
  const Tensor standing = orientation < 5 ? image : transposed(image);
  switch (orientation) {
    case 2:
    case 6: return ops::compute::flip(standing, Dims{kWidth});
    case 3:
    case 7: return ops::compute::flip(standing, Dims{kHeight, kWidth});
    case 4:
    case 8: return ops::compute::flip(standing, Dims{kHeight});
    default: return standing;
  }
}

}  // namespace fb::image
