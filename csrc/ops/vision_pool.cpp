// The largest elements, or the means, of whole pixels in a grid of cells over regions of images.
#include "gen/ops/vision.h"
#include "kernel/table.h"
#include "ops/vision_regions.h"

namespace fb::ops {

Tensor compute::_roi_pool_argmax(const Tensor& input, const Tensor& rois, double spatial_scale,
                                 int64_t height, int64_t width) {
  const kernel::ImageBatch shape = images_of(input.sizes());
  const DType dtype = working_type(input.dtype());
  const Regions regions(shape, rois, dtype, spatial_scale, height, width);
  const Tensor images = contiguous(cast(input, dtype));
  const Tensor out = make_tensor({regions.plan.count, shape.channels, height, width}, DType::kInt64,
                                 input.device());
  kernel::of(out).roi_pool_argmax(dtype, regions.plan, images.data(), out.data_as<int64_t>());
  return out;
}

Tensor compute::_ps_roi_pool(const Tensor& input, const Tensor& rois, double spatial_scale,
                             int64_t height, int64_t width) {
  const kernel::ImageBatch shape = images_of(input.sizes());
  const DType dtype = working_type(input.dtype());
  const Regions regions(shape, rois, dtype, spatial_scale, height, width);
  const int64_t channels = regions.groups();
  const Tensor images = contiguous(cast(input, dtype));
  const Tensor out =
      make_tensor({regions.plan.count, channels, height, width}, dtype, input.device());
  kernel::of(out).ps_roi_pool(dtype, regions.plan, images.data(), out.data());
  return cast(out, input.dtype());
}

Tensor compute::_ps_roi_pool_backward(const Tensor& gradient, const Tensor& rois,
                                      double spatial_scale, int64_t height, int64_t width,
                                      IntSpan sizes) {
  const kernel::ImageBatch shape = images_of(sizes);
  const DType dtype = working_type(gradient.dtype());
  const Regions regions(shape, rois, dtype, spatial_scale, height, width);
  regions.check_gradient(gradient, regions.groups());
  const Tensor cells = contiguous(cast(gradient, dtype));
  const Tensor images = make_tensor(sizes, dtype, gradient.device());
  kernel::of(images).fill(images, 0);
  kernel::of(images).ps_roi_pool_backward(dtype, regions.plan, cells.data(), images.data());
  return cast(images, gradient.dtype());
}

}  // namespace fb::ops
