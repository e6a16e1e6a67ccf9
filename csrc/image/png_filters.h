// The filters of PNG: a row is written as differences from what is to its left and above.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fb::image {

enum class PngFilter : uint8_t { kNone, kLeft, kUp, kAverage, kPaeth };
inline constexpr int kPngFilters = 5;

// Bytes that must follow rows in memory, unless another row does: pixels are read in words.
inline constexpr size_t kRowSlack = 4;

// Undoes a filter: `size` bytes of a row, whose pixels have `pixel` bytes (1 if less), from what
// the file has and the row above. `row` may be `from`.
void unfilter(PngFilter filter, const uint8_t* from, const uint8_t* above, uint8_t* row,
              size_t size, int pixel);

// Filters the rows of an image, one after the other.
class RowFilter {
 public:
  // Rows of `size` bytes, whose pixels have `pixel`.
  RowFilter(size_t size, int pixel);

  // Writes the number of the filter with the smallest sum of bytes, taken as signed numbers, and
  // the bytes.
  void apply(const uint8_t* row, uint8_t* to);

 private:
  size_t size_, pixel_;
  // This row and the one above, after a pixel of zeros.
  std::vector<uint8_t> row_, above_;
  std::array<std::vector<uint8_t>, kPngFilters> filtered_;
};

}  // namespace fb::image
