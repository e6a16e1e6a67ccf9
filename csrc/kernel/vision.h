// Boxes on images, and regions of images.
#pragma once

#include <cstdint>

#include "core/tensor.h"
#include "kernel/slot.h"

namespace fb::kernel {

struct ImageBatch {
  int64_t batch, channels, height, width;

  int64_t pixels() const { return height * width; }
  int64_t image() const { return channels * pixels(); }
};

// Regions of images, each divided into a grid of height x width cells. Everything is contiguous and
// of float32 or float64. Refuses a region that names no image of the batch.
struct RegionPlan {
  ImageBatch images;
  int64_t count, height, width;
  double scale;      // of the regions, to pixels
  const void* rows;  // (count, 5): the number of an image, then left, top, right, bottom

  int64_t cells() const { return height * width; }
};

// Means of interpolated points in every cell.
struct AlignPlan {
  RegionPlan regions;
  int64_t ratio;            // points along a side of a cell; 0 or less: as many as it has pixels
  bool aligned;             // pixels have their centres at halves
  bool position_sensitive;  // every cell has channels of its own

  int64_t channels() const {
    return position_sensitive ? regions.images.channels / regions.cells() : regions.images.channels;
  }
};

// One of the two axes of a convolution.
struct DeformSide {
  int64_t kernel, stride, padding, dilation, result;
};

// A deformable convolution: every tap is moved by an offset and scaled by a mask.
struct DeformPlan {
  ImageBatch input;
  DeformSide down, across;
  int64_t offset_groups;  // of channels, which share their offsets

  int64_t taps() const { return down.kernel * across.kernel; }
  int64_t pixels() const { return down.result * across.result; }  // of the result
  int64_t channels_of_offset() const { return input.channels / offset_groups; }
};

// One image, contiguous: pixels (channels, height, width), offsets (groups, taps, 2, result), where
// a tap moves down and across, and its mask (groups, taps, result), or null.
struct DeformImage {
  const void* pixels;
  const void* offset;
  const void* mask;
};
// Added to; the mask is null where there is none.
struct DeformGradients {
  void* pixels;
  void* offset;
  void* mask;
};

struct Vision {
  // The numbers of the boxes to keep, best first: those that no better one overlaps by more than
  // `limit`, by intersection over union. Boxes (count, 4), left, top, right, bottom, and scores
  // (count), contiguous and of float32 or float64; NaN is the best score.
  Slot<Tensor(const Tensor& boxes, const Tensor& scores, double limit)> kept_boxes;
  // Intersection over union of rotated boxes: contiguous (count, 5), the centre, the width, the
  // height and the angle in degrees. `out` is (rows, columns).
  Slot<void(const double* first, int64_t rows, const double* second, int64_t columns, float* out)>
      rotated_overlaps;

  // Images (batch, height, width, channels); `out` is (count, channels, height, width) of the plan.
  Slot<void(DType dtype, const AlignPlan& plan, const void* images, void* out)> roi_align;
  // Adds to the gradient of the images.
  Slot<void(DType dtype, const AlignPlan& plan, const void* gradient, void* images)>
      roi_align_backward;

  // Whole pixels. Images are (batch, channels, height, width).

  // Where the largest element of each cell is among all elements of the images; -1 of an empty one.
  Slot<void(DType dtype, const RegionPlan& plan, const void* images, int64_t* out)> roi_pool_argmax;
  // Means of the pixels of each cell, where every cell has channels of its own.
  Slot<void(DType dtype, const RegionPlan& plan, const void* images, void* out)> ps_roi_pool;
  // Adds to the gradient of the images.
  Slot<void(DType dtype, const RegionPlan& plan, const void* gradient, void* images)>
      ps_roi_pool_backward;

  // The values under the taps, as the matrix that a weight is multiplied with: (channels, taps,
  // result). float32 or float64.
  Slot<void(DType dtype, const DeformPlan& plan, const DeformImage& image, void* columns)>
      deform_columns;
  // From the gradient of that matrix.
  Slot<void(DType dtype, const DeformPlan& plan, const DeformImage& image, const void* gradient,
            const DeformGradients& out)>
      deform_columns_backward;
};

}  // namespace fb::kernel
