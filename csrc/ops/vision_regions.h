// Regions of a batch of images, as the operators that look into them get them.
#pragma once

#include "kernel/vision.h"
#include "ops/output.h"

namespace fb::ops {

inline kernel::ImageBatch images_of(IntSpan sizes) {
  FB_CHECK(sizes.size() == 4, "input must have shape (batch, channels, height, width), got ",
           sizes);
  return {sizes[0], sizes[1], sizes[2], sizes[3]};
}

inline constexpr int64_t kMostCells = int64_t{1} << 40;

// Regions of images with rows of (number of an image, left, top, right, bottom), kept alive.
struct Regions {
  Tensor rows;
  kernel::RegionPlan plan;

  Regions(const kernel::ImageBatch& images, const Tensor& rois, DType dtype, double spatial_scale,
          int64_t height, int64_t width)
      : rows(contiguous(cast(rois, dtype))) {
    FB_CHECK(rois.dim() == 2 && rois.sizes()[1] == 5, "rois must have shape (count, 5), got ",
             rois.sizes());
    FB_CHECK(height > 0 && width > 0 && height <= kMostCells / width,
             "output_size must be positive, with at most ", kMostCells, " cells, got (", height,
             ", ", width, ")");
    plan = {images, rois.sizes()[0], height, width, spatial_scale, rows.data()};
    FB_CHECK(plan.count == 0 || images.pixels() > 0,
             "input has no pixels for the regions of rois, got a height of ", images.height,
             " and a width of ", images.width);
  }

  // How many channels there are for each cell where every cell has planes of its own.
  int64_t groups() const {
    const int64_t channels = plan.images.channels;
    FB_CHECK(channels % plan.cells() == 0, "input must have a multiple of ", plan.height, " * ",
             plan.width, " channels, as many for each cell of the result, got ", channels);
    return channels / plan.cells();
  }

  void check_gradient(const Tensor& gradient, int64_t channels) const {
    const int64_t sizes[] = {plan.count, channels, plan.height, plan.width};
    const IntSpan expected(sizes, 4);
    FB_CHECK(gradient.sizes() == expected, "gradient must have shape ", expected, ", got ",
             gradient.sizes());
  }
};

// 16-bit floats are computed in float32.
inline DType working_type(DType dtype) {
  return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

}  // namespace fb::ops
