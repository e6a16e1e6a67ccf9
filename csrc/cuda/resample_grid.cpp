// Images sampled at given points.
#include "cuda/resample_grid.h"

#include <algorithm>

#include "core/determinism.h"
#include "cuda/device/resample_grid_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using kernel::GridPlan;

TypedKernel sample_kernel("resample_grid.cuh", "grid_sample", "GridArguments");
TypedKernel image_kernel("resample_grid.cuh", "grid_image_gradient", "GridArguments");
TypedKernel point_kernel("resample_grid.cuh", "grid_point_gradient", "GridArguments");
TypedKernel points_kernel("resample_grid.cuh", "pixel_points", "GridArguments");

constexpr int64_t kEnoughThreads = 1 << 18;  // for any device
constexpr int64_t kMostParts = 65535;        // of the channels

device::GridArguments arguments_of(const GridPlan& plan, const void* grid, void* out) {
  device::GridArguments args{};
  args.batch = plan.batch, args.channels = plan.channels;
  args.points = plan.points, args.pixels = plan.pixels();
  std::copy(std::begin(plan.size), std::end(plan.size), args.size);
  args.mode = static_cast<int>(plan.mode), args.padding = static_cast<int>(plan.padding);
  args.align_corners = plan.align_corners;
  args.channels_each = plan.channels;
  args.grid = grid, args.out = out;
  return args;
}

// Where points are few, threads share the channels.
void share_channels(device::GridArguments& args) {
  const int64_t points = std::max<int64_t>(args.batch * args.points, 1);
  const int64_t parts = std::clamp<int64_t>(kEnoughThreads / points, 1,
                                            std::clamp<int64_t>(args.channels, 1, kMostParts));
  args.channels_each = (args.channels + parts - 1) / parts;
}

void run(TypedKernel& kernel, DType dtype, const GridPlan& plan,
         const device::GridArguments& args) {
  const int64_t n = args.batch * args.points;
  if (n == 0) return;
  const int device = place_of(args.out);
  use(device);
  const int rank = static_cast<int>(plan.rank);
  const int64_t parts =
      args.channels ? (args.channels + args.channels_each - 1) / args.channels_each : 1;
  const std::string variant = message_of(rank, ", static_cast<GridMode>(", args.mode, ")");
  launch(device, kernel.on(device, dtype, rank * 4 + args.mode, variant.c_str()),
         {blocks_for(n, 256), static_cast<unsigned>(parts)}, 256, args);
}

}  // namespace

void grid_sample(DType dtype, const GridPlan& plan, const void* image, const void* grid,
                 void* out) {
  if (plan.channels == 0) return;
  device::GridArguments args = arguments_of(plan, grid, out);
  args.image = image;
  share_channels(args);
  run(sample_kernel, dtype, plan, args);
}

void grid_sample_image_gradient(DType dtype, const GridPlan& plan, const void* gradient,
                                const void* grid, void* image_gradient) {
  if (plan.channels == 0) return;
  alert_any_order("the gradient of grid_sample by its input");
  device::GridArguments args = arguments_of(plan, grid, image_gradient);
  args.gradient = gradient;
  share_channels(args);
  run(image_kernel, dtype, plan, args);
}

void grid_sample_grid_gradient(DType dtype, const GridPlan& plan, const void* gradient,
                               const void* image, const void* grid, void* grid_gradient) {
  device::GridArguments args = arguments_of(plan, grid, grid_gradient);
  args.gradient = gradient;
  args.image = image;
  run(point_kernel, dtype, plan, args);
}

void pixel_points(const GridPlan& plan, double* out) {
  device::GridArguments args = arguments_of(plan, nullptr, out);
  if (args.pixels == 0) return;
  const int device = place_of(out);
  use(device);
  const int rank = static_cast<int>(plan.rank);
  launch(device, points_kernel.on(device, DType::kFloat64, rank, rank == 2 ? "2" : "3"),
         {blocks_for(args.pixels, 256)}, 256, args);
}

}  // namespace fb::cuda
