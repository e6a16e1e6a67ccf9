// The filters of PNG: a row is written as differences from what is to its left and above.
#include "image/png_filters.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace fb::image {
namespace {

// Bytes whose sum is sure to fit into 32 bits.
constexpr size_t kSummed = size_t{1} << 20;

// The bytes of a pixel as numbers that can be subtracted. Lanes past the pixel hold anything.
typedef uint8_t Bytes __attribute__((vector_size(8)));
typedef int16_t Lanes __attribute__((vector_size(16)));

template <int kPixel>
Lanes load(const uint8_t* from) {
  Bytes bytes{};
  std::memcpy(&bytes, from, kPixel == 3 ? 4 : kPixel);
  return __builtin_convertvector(bytes, Lanes);
}

template <int kPixel>
void store(Lanes lanes, uint8_t* to) {
  const Bytes bytes = __builtin_convertvector(lanes, Bytes);
  std::memcpy(to, &bytes, kPixel);
}

Lanes size_of_each(Lanes x) { return x < 0 ? -x : x; }

// The Paeth predictor: of left, above and corner, the one nearest to left + above - corner.
Lanes paeth(Lanes left, Lanes above, Lanes corner) {
  const Lanes to_left = above - corner, to_above = left - corner;
  const Lanes p = size_of_each(to_left), q = size_of_each(to_above);
  const Lanes r = size_of_each(to_left + to_above);
  const Lanes other = q <= r ? above : corner;
  return (p <= q) & (p <= r) ? left : other;
}

// A row of bytes minus the prediction of `guess` from the bytes to the left, above and above the
// left. Returns the sum of the absolute differences, taken as signed numbers.
template <class Guess>
uint64_t subtract(const uint8_t* row, const uint8_t* above, size_t size, size_t pixel, uint8_t* to,
                  const Guess& guess) {
  uint64_t total = 0;
  for (size_t begin = 0; begin < size;) {
    const size_t end = std::min(size, begin + kSummed);
    uint32_t sum = 0;
    for (size_t i = begin; i < end; ++i) {
      const int up = above[i + pixel], left = row[i], corner = above[i];
      const auto difference = static_cast<uint8_t>(row[i + pixel] - guess(left, up, corner));
      to[i] = difference;
      sum += difference < 128 ? difference : 256 - difference;
    }
    total += sum;
    begin = end;
  }
  return total;
}

int nearest(int left, int up, int corner) {
  const int to_left = std::abs(up - corner), to_up = std::abs(left - corner);
  const int to_corner = std::abs(left + up - 2 * corner);
  const int other = to_up <= to_corner ? up : corner;
  return (to_left <= to_up) & (to_left <= to_corner) ? left : other;
}

template <int kPixel>
void unfilter_pixels(PngFilter filter, const uint8_t* from, const uint8_t* above, uint8_t* row,
                     size_t size) {
  Lanes left{}, corner{};
  for (size_t i = 0; i < size; i += kPixel) {
    const Lanes here = load<kPixel>(from + i);
    if (filter == PngFilter::kLeft) {
      left = (here + left) & 255;
    } else {
      const Lanes up = load<kPixel>(above + i);
      const Lanes guess =
          filter == PngFilter::kAverage ? (left + up) >> 1 : paeth(left, up, corner);
      left = (here + guess) & 255;
      corner = up;
    }
    store<kPixel>(left, row + i);
  }
}

}  // namespace

void unfilter(PngFilter filter, const uint8_t* from, const uint8_t* above, uint8_t* row,
              size_t size, int pixel) {
  switch (filter) {
    case PngFilter::kNone:
      if (row != from) std::memcpy(row, from, size);
      return;
    case PngFilter::kUp:
      for (size_t i = 0; i < size; ++i) row[i] = static_cast<uint8_t>(from[i] + above[i]);
      return;
    default: break;
  }
  switch (pixel) {
    case 1: return unfilter_pixels<1>(filter, from, above, row, size);
    case 2: return unfilter_pixels<2>(filter, from, above, row, size);
    case 3: return unfilter_pixels<3>(filter, from, above, row, size);
    case 4: return unfilter_pixels<4>(filter, from, above, row, size);
    case 6: return unfilter_pixels<6>(filter, from, above, row, size);
    default: return unfilter_pixels<8>(filter, from, above, row, size);
  }
}

RowFilter::RowFilter(size_t size, int pixel)
    : size_(size), pixel_(static_cast<size_t>(pixel)), row_(size + pixel_), above_(size + pixel_) {
  for (std::vector<uint8_t>& each : filtered_) each.resize(size);
}

void RowFilter::apply(const uint8_t* row, uint8_t* to) {
  std::swap(row_, above_);
  std::memcpy(row_.data() + pixel_, row, size_);
  const auto run = [&](PngFilter filter, const auto& guess) {
    return subtract(row_.data(), above_.data(), size_, pixel_,
                    filtered_[static_cast<size_t>(filter)].data(), guess);
  };
  const std::array<uint64_t, kPngFilters> sums = {
      run(PngFilter::kNone, [](int, int, int) { return 0; }),
      run(PngFilter::kLeft, [](int left, int, int) { return left; }),
      run(PngFilter::kUp, [](int, int up, int) { return up; }),
      run(PngFilter::kAverage, [](int left, int up, int) { return (left + up) / 2; }),
      run(PngFilter::kPaeth, nearest),
  };
  const auto best = static_cast<size_t>(std::ranges::min_element(sums) - sums.begin());
  *to = static_cast<uint8_t>(best);
  std::memcpy(to + 1, filtered_[best].data(), size_);
}

}  // namespace fb::image
