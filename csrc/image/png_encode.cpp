// Tensors into the rows of PNG files.
#include <vector>

#include "core/error.h"
#include "image/pixels.h"
#include "image/png.h"
#include "image/png_filters.h"

namespace fb::image {

Tensor filter_png(const Tensor& image) {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  const Tensor pixels = interleaved(image, true);
  const int64_t height = pixels.sizes()[0], width = pixels.sizes()[1], pixel = pixels.sizes()[2];
  FB_CHECK(height <= kMost && width <= kMost, "a PNG file has 1 to ", kMost,
           " rows and columns, got ", height, " x ", width);
  const int64_t size = width * pixel;
  Tensor rows = make_tensor({height * (1 + size)}, DType::kUInt8, kHost);
  RowFilter filter(static_cast<size_t>(size), static_cast<int>(pixel));
  for (int64_t y = 0; y < height; ++y)
    filter.apply(pixels.data_as<uint8_t>() + y * size, rows.data_as<uint8_t>() + y * (1 + size));
  return rows;
}

}  // namespace fb::image
