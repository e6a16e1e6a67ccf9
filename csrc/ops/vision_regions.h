// Regions of a batch of images, as the operators that look into them get them.
#pragma once

#include <algorithm>

#include "ops/output.h"

namespace fb::ops {

struct Shape {
  int64_t batch, channels, height, width;

  explicit Shape(IntSpan sizes)
      : batch(sizes.size() == 4 ? sizes[0] : 0),
        channels(sizes.size() == 4 ? sizes[1] : 0),
        height(sizes.size() == 4 ? sizes[2] : 0),
        width(sizes.size() == 4 ? sizes[3] : 0) {
    FB_CHECK(sizes.size() == 4, "input must have shape (batch, channels, height, width), got ",
             sizes);
  }

  int64_t pixels() const { return height * width; }
  int64_t image() const { return channels * pixels(); }
};

inline constexpr int64_t kMostCells = int64_t{1} << 40;

// Regions (count, 5): the number of an image, then left, top, right, bottom.
struct Regions {
  Tensor rows;
  int64_t count, height, width;
  double scale;

  Regions(const Tensor& rois, DType dtype, double spatial_scale, int64_t height, int64_t width)
      : rows(contiguous(cast(rois, dtype))),
        count(rois.dim() == 2 ? rois.sizes()[0] : 0),
        height(height),
        width(width),
        scale(spatial_scale) {
    FB_CHECK(rois.dim() == 2 && rois.sizes()[1] == 5, "rois must have shape (count, 5), got ",
             rois.sizes());
    FB_CHECK(height > 0 && width > 0 && height <= kMostCells / width,
             "output_size must be positive, with at most ", kMostCells, " cells, got (", height,
             ", ", width, ")");
  }

  int64_t cells() const { return height * width; }

  void check(const Shape& images) const {
    FB_CHECK(count == 0 || images.pixels() > 0,
             "input has no pixels for the regions of rois, got a height of ", images.height,
             " and a width of ", images.width);
  }

  // How many channels there are for each cell where every cell has planes of its own.
  int64_t groups_of(const Shape& images) const {
    FB_CHECK(images.channels % cells() == 0, "input must have a multiple of ", height, " * ", width,
             " channels, as many for each cell of the result, got ", images.channels);
    return images.channels / cells();
  }

  void check_gradient(const Tensor& gradient, int64_t channels) const {
    const int64_t sizes[] = {count, channels, height, width};
    const IntSpan expected(sizes, 4);
    FB_CHECK(gradient.sizes() == expected, "gradient must have shape ", expected, ", got ",
             gradient.sizes());
  }
};

template <class T>
int64_t image_of(const T* region, const Shape& shape) {
  // Compared before it is cast: NaN and what no integer holds are refused too.
  FB_CHECK_INDEX(region[0] > -1 && region[0] < static_cast<T>(shape.batch), "rois name image ",
                 region[0], " of a batch of ", shape.batch);
  return static_cast<int64_t>(region[0]);
}

// As an integer: far outside of every image where it is too large, and for NaN.
template <class T>
int64_t bounded(T value) {
  constexpr T kFar = static_cast<T>(int64_t{1} << 60);
  return value == value ? static_cast<int64_t>(std::clamp(value, -kFar, kFar))
                        : -(int64_t{1} << 60);
}

// Floats of 16 bits are computed with as float32.
inline DType working_type(DType dtype) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, is_floating(dtype),
              "boxes and images must be floating-point tensors, got ", dtype, ": call .float()");
  return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

}  // namespace fb::ops
