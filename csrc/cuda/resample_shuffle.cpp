// Pixel shuffle and its inverse.
#include "cuda/resample_shuffle.h"

#include "cuda/device/resample_shuffle_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using kernel::PixelPlan;

TypedKernel weave_kernel("resample_shuffle.cuh", "channels_to_pixels", "PixelArguments");
TypedKernel part_kernel("resample_shuffle.cuh", "pixels_to_channels", "PixelArguments");

void run(TypedKernel& kernel, const PixelPlan& plan, const void* in, void* out) {
  const int64_t n = plan.planes * plan.rows * plan.columns * plan.factor * plan.factor;
  if (n == 0) return;
  const int device = place_of(out);
  use(device);
  const device::PixelArguments args{plan.rows, plan.columns, plan.factor, n, in, out};
  const DType dtype = of_size(static_cast<size_t>(plan.width));
  launch(device, kernel.on(device, dtype), {blocks_for(n, 256)}, 256, args);
}

}  // namespace

void channels_to_pixels(const PixelPlan& plan, const void* channels, void* pixels) {
  run(weave_kernel, plan, channels, pixels);
}

void pixels_to_channels(const PixelPlan& plan, const void* pixels, void* channels) {
  run(part_kernel, plan, pixels, channels);
}

}  // namespace fb::cuda
