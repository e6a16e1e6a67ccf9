// Boxes on images, and regions of images.
#include "cuda/vision.h"

#include <algorithm>

#include "core/determinism.h"
#include "core/error.h"
#include "cuda/copy.h"
#include "cuda/device/vision_args.h"
#include "cuda/device_error.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using kernel::AlignPlan;
using kernel::DeformPlan;
using kernel::RegionPlan;

TypedKernel rank_kernel("vision_boxes.cuh", "rank_boxes", "BoxArguments");
TypedKernel compare_kernel("vision_boxes.cuh", "compare_boxes", "BoxArguments");
TypedKernel sweep_kernel("vision_boxes.cuh", "sweep_boxes", "BoxArguments");
TypedKernel rotated_kernel("vision_rotated.cuh", "rotated_overlap", "OverlapArguments");
TypedKernel align_kernel("vision_regions.cuh", "align_cell", "RegionArguments");
TypedKernel align_backward_kernel("vision_regions.cuh", "align_cell_backward", "RegionArguments");
TypedKernel argmax_kernel("vision_regions.cuh", "pool_argmax", "RegionArguments");
TypedKernel mean_kernel("vision_regions.cuh", "pool_mean", "RegionArguments");
TypedKernel mean_backward_kernel("vision_regions.cuh", "pool_mean_backward", "RegionArguments");
TypedKernel deform_kernel("vision_deform.cuh", "deform_column", "DeformArguments");
TypedKernel deform_backward_kernel("vision_deform.cuh", "deform_gradient", "DeformArguments");

unsigned at_most(int64_t n, int64_t most) { return static_cast<unsigned>(std::min(n, most)); }

device::RegionArguments arguments_of(const RegionPlan& plan, const void* in, void* out) {
  device::RegionArguments args{};
  args.batch = plan.images.batch, args.channels = plan.images.channels;
  args.height = plan.images.height, args.width = plan.images.width;
  args.count = plan.count, args.cells_down = plan.height, args.cells_across = plan.width;
  args.scale = plan.scale;
  args.rows = plan.rows;
  args.in = in, args.out = out;
  args.cell_channels = plan.images.channels;
  return args;
}

device::RegionArguments arguments_of(const AlignPlan& plan, const void* in, void* out) {
  constexpr double kMostPoints = int64_t{1} << 26;
  const auto ratio = static_cast<double>(std::max<int64_t>(plan.ratio, 0));
  FB_CHECK(ratio * ratio * static_cast<double>(plan.regions.cells()) <= kMostPoints,
           "sampling_ratio ", plan.ratio, " takes more points than the ",
           static_cast<int64_t>(kMostPoints), " allowed for a region");
  device::RegionArguments args = arguments_of(plan.regions, in, out);
  args.ratio = plan.ratio;
  args.aligned = plan.aligned, args.position_sensitive = plan.position_sensitive;
  args.cell_channels = plan.channels();
  return args;
}

// A thread for each of so many elements.
void run(TypedKernel& kernel, DType dtype, const void* at, int64_t elements,
         device::RegionArguments args) {
  if (elements == 0) return;
  const int device = place_of(at);
  use(device);
  args.elements = elements;
  args.error = error_site(device, "the pooling of regions");
  launch(device, kernel.on(device, dtype), {blocks_for(elements, 256)}, 256, args);
}

device::DeformArguments arguments_of(const DeformPlan& plan, const kernel::DeformImage& image) {
  const auto side = [](const kernel::DeformSide& s) {
    return device::DeformSide{s.kernel, s.stride, s.padding, s.dilation, s.result};
  };
  device::DeformArguments args{};
  args.height = plan.input.height, args.width = plan.input.width;
  args.channels = plan.channels_of_offset();
  args.down = side(plan.down), args.across = side(plan.across);
  args.points = plan.offset_groups * plan.taps();
  args.pixels = image.pixels, args.offset = image.offset, args.mask = image.mask;
  return args;
}

}  // namespace

Tensor kept_boxes(const Tensor& boxes, const Tensor& scores, double limit) {
  const int64_t count = boxes.sizes()[0];
  if (count == 0) return make_tensor({0}, DType::kInt64, boxes.device());
  const int device = place_of(boxes);
  use(device);
  const int64_t words = (count + device::kBoxesOfWord - 1) / device::kBoxesOfWord;
  const auto numbers = [&](IntSpan sizes) {
    return make_tensor(sizes, DType::kInt64, boxes.device());
  };
  const Tensor order = numbers({count}), covers = numbers({count, words}), gone = numbers({words});
  const Tensor kept = numbers({count + 1});
  const device::BoxArguments args{boxes.data(),
                                  scores.data(),
                                  count,
                                  words,
                                  limit,
                                  static_cast<long long*>(order.data()),
                                  static_cast<unsigned long long*>(covers.data()),
                                  static_cast<unsigned long long*>(gone.data()),
                                  static_cast<long long*>(kept.data())};
  const unsigned blocks = blocks_for(count, 256);
  launch(device, rank_kernel.on(device, boxes.dtype()), {blocks}, 256, args);
  launch(device, compare_kernel.on(device, boxes.dtype()), {blocks, at_most(words, 1024)}, 256,
         args);
  launch(device, sweep_kernel.on(device, boxes.dtype()), {1}, 256, args);
  int64_t found = 0;
  to_host(kept.data(), sizeof found, &found);
  const Tensor result = numbers({found});
  copy_bytes_here(result.data(), kept.data_as<int64_t>() + 1,
                  static_cast<size_t>(found) * sizeof(int64_t));
  return result;
}

void rotated_overlaps(const double* first, int64_t rows, const double* second, int64_t columns,
                      float* out) {
  if (rows * columns == 0) return;
  const int device = place_of(out);
  use(device);
  launch(device, rotated_kernel.on(device, DType::kFloat64), {blocks_for(rows * columns, 256)}, 256,
         device::OverlapArguments{first, second, out, rows, columns});
}

void roi_align(DType dtype, const AlignPlan& plan, const void* images, void* out) {
  run(align_kernel, dtype, out, plan.regions.count * plan.channels() * plan.regions.cells(),
      arguments_of(plan, images, out));
}

void roi_align_backward(DType dtype, const AlignPlan& plan, const void* gradient, void* images) {
  alert_any_order("the gradient of roi_align");
  run(align_backward_kernel, dtype, images,
      plan.regions.count * plan.channels() * plan.regions.cells(),
      arguments_of(plan, gradient, images));
}

void roi_pool_argmax(DType dtype, const RegionPlan& plan, const void* images, int64_t* out) {
  run(argmax_kernel, dtype, out, plan.count * plan.images.channels * plan.cells(),
      arguments_of(plan, images, out));
}

void ps_roi_pool(DType dtype, const RegionPlan& plan, const void* images, void* out) {
  run(mean_kernel, dtype, out, plan.count * plan.images.channels, arguments_of(plan, images, out));
}

void ps_roi_pool_backward(DType dtype, const RegionPlan& plan, const void* gradient, void* images) {
  alert_any_order("the gradient of ps_roi_pool");
  run(mean_backward_kernel, dtype, images, plan.count * plan.images.channels,
      arguments_of(plan, gradient, images));
}

void deform_columns(DType dtype, const DeformPlan& plan, const kernel::DeformImage& image,
                    void* columns) {
  device::DeformArguments args = arguments_of(plan, image);
  args.columns = columns;
  const int64_t points = args.points * plan.pixels();
  const int64_t parts = (args.channels + device::kDeformChannels - 1) / device::kDeformChannels;
  if (points == 0 || parts == 0) return;
  const int device = place_of(columns);
  use(device);
  launch(device, deform_kernel.on(device, dtype), {blocks_for(points, 256), at_most(parts, 65535)},
         256, args);
}

void deform_columns_backward(DType dtype, const DeformPlan& plan, const kernel::DeformImage& image,
                             const void* gradient, const kernel::DeformGradients& out) {
  alert_any_order("the gradient of deform_conv2d");
  device::DeformArguments args = arguments_of(plan, image);
  args.columns = const_cast<void*>(gradient);
  args.to_pixels = out.pixels, args.to_offset = out.offset, args.to_mask = out.mask;
  const int64_t points = args.points * plan.pixels();
  if (points == 0) return;
  const int device = place_of(gradient);
  use(device);
  launch(device, deform_backward_kernel.on(device, dtype), {blocks_for(points, 256)}, 256, args);
}

}  // namespace fb::cuda
