// Means of interpolated points in a grid of cells over regions of images.
#include "core/layout.h"
#include "gen/ops/vision.h"
#include "kernel/table.h"
#include "ops/vision_regions.h"

namespace fb::ops {
namespace {

// Images with the channels of a pixel adjacent in memory: many are computed at a time.
Tensor by_pixels(const Tensor& images) {
  const IntSpan sizes = images.sizes(), strides = images.strides();
  return contiguous(as_view(images, Dims{sizes[0], sizes[2], sizes[3], sizes[1]},
                            Dims{strides[0], strides[2], strides[3], strides[1]}));
}

// How many channels the result has.
int64_t channels_of(const Regions& regions, bool position_sensitive) {
  return position_sensitive ? regions.groups() : regions.plan.images.channels;
}

}  // namespace

Tensor compute::_roi_align(const Tensor& input, const Tensor& rois, double spatial_scale,
                           int64_t height, int64_t width, int64_t sampling_ratio, bool aligned,
                           bool position_sensitive) {
  const kernel::ImageBatch shape = images_of(input.sizes());
  const DType dtype = working_type(input.dtype());
  const Regions regions(shape, rois, dtype, spatial_scale, height, width);
  const int64_t channels = channels_of(regions, position_sensitive);
  const Tensor images = by_pixels(cast(input, dtype));
  const Tensor out =
      make_tensor({regions.plan.count, channels, height, width}, dtype, input.device());
  kernel::of(out).roi_align(dtype, {regions.plan, sampling_ratio, aligned, position_sensitive},
                            images.data(), out.data());
  return cast(out, input.dtype());
}

// The result has channels_last strides: that is how convolutions want it.
Tensor compute::_roi_align_backward(const Tensor& gradient, const Tensor& rois,
                                    double spatial_scale, int64_t height, int64_t width,
                                    int64_t sampling_ratio, bool aligned, bool position_sensitive,
                                    IntSpan sizes) {
  const kernel::ImageBatch shape = images_of(sizes);
  const DType dtype = working_type(gradient.dtype());
  const Regions regions(shape, rois, dtype, spatial_scale, height, width);
  regions.check_gradient(gradient, channels_of(regions, position_sensitive));
  const Tensor cells = contiguous(cast(gradient, dtype));
  const Tensor images = make_strided(sizes, channels_last_strides(sizes), dtype, gradient.device());
  kernel::of(images).fill(images, 0);
  kernel::of(images).roi_align_backward(dtype,
                                        {regions.plan, sampling_ratio, aligned, position_sensitive},
                                        cells.data(), images.data());
  return cast(images, gradient.dtype());
}

}  // namespace fb::ops
