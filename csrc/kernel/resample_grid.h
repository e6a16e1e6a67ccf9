// Images sampled at given points.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

// PyTorch's numbers of them.
enum class GridMode : uint8_t { kBilinear, kNearest, kBicubic };
enum class GridPadding : uint8_t { kZeros, kBorder, kReflection };

struct GridPlan {
  int64_t rank = 2;  // coordinates of a point: 2 or 3
  int64_t batch = 0, channels = 0;
  int64_t size[3] = {1, 1, 1};  // of the image, in the order of coordinates: width first
  int64_t points = 0;           // for each image
  GridMode mode = GridMode::kBilinear;
  GridPadding padding = GridPadding::kZeros;
  bool align_corners = false;

  int64_t pixels() const { return size[0] * size[1] * size[2]; }
};

struct ResampleGrid {
  // Contiguous float32 or float64: image (batch, channels, pixels), grid (batch, points, rank), out
  // (batch, channels, points). Points outside of the image, infinities and NaN are safe.
  Slot<void(DType dtype, const GridPlan& plan, const void* image, const void* grid, void* out)>
      grid_sample;
  // Adds to `image_gradient`, which the caller has cleared.
  Slot<void(DType dtype, const GridPlan& plan, const void* gradient, const void* grid,
            void* image_gradient)>
      grid_sample_image_gradient;
  Slot<void(DType dtype, const GridPlan& plan, const void* gradient, const void* image,
            const void* grid, void* grid_gradient)>
      grid_sample_grid_gradient;
  // The pixels of an image as points in [-1, 1], each with a 1 behind its coordinates: contiguous
  // (pixels, rank + 1) of float64. Of the plan, rank, size and align_corners count.
  Slot<void(const GridPlan& plan, double* out)> pixel_points;
};

}  // namespace fb::kernel
