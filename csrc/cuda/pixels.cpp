// Images of bytes: resizing and lookup tables.
#include "cuda/pixels.h"

#include "core/error.h"
#include "cuda/allocator.h"
#include "cuda/device/pixels_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/table_cache.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using kernel::ByteSums;

TypedKernel sums_kernel("pixels.cuh", "sum_bytes", "ByteSumsArguments");
TypedKernel map_kernel("pixels.cuh", "map_bytes", "ByteMapArguments");

// The sums along one side; `args` says where the bytes are.
void sum_side(int device, const ByteSums& sums, device::ByteSumsArguments args, int64_t images) {
  TableMaker maker;
  const size_t first = maker.add(sums.first), weight = maker.add(sums.weight);
  const Storage tables = maker.on(device);
  const char* const base = static_cast<const char*>(tables->data);
  args.first = reinterpret_cast<const int*>(base + first);
  args.weight = reinterpret_cast<const int*>(base + weight);
  args.pairs = sums.pairs, args.limbs = sums.limbs, args.bits = sums.bits;
  args.in_size = sums.in, args.out_size = sums.out;
  args.n = images * args.planes * args.rows * args.out_size * args.inner;
  launch(device, sums_kernel.on(device, DType::kUInt8, sums.limbs, sums.limbs == 1 ? "1" : "2"),
         {blocks_for(args.n, 256)}, 256, args);
}

}  // namespace

void resize_bytes(const kernel::ByteResizePlan& plan, const uint8_t* in, uint8_t* out) {
  const int device = place_of(out);
  use(device);
  const bool narrows = !plan.width.identity, both = narrows && !plan.height.identity;
  device::ByteSumsArguments args{};
  args.planes = plan.planes;
  args.image_step = plan.image_step, args.plane_step = plan.plane_step;
  args.in = in;
  Storage narrowed;
  if (both)
    narrowed = allocate(static_cast<size_t>(plan.images * plan.planes * plan.height.in *
                                            plan.width.out * plan.inner),
                        Device(DeviceType::kCuda, static_cast<int8_t>(device)));
  if (narrows) {
    args.rows = plan.height.in, args.row_step = plan.row_step;
    args.step = args.inner = plan.inner;
    args.out = both ? static_cast<uint8_t*>(narrowed->data) : out;
    sum_side(device, plan.width, args, plan.images);
    if (!both) return;
    args.in = args.out;
    args.plane_step = plan.height.in * plan.width.out * plan.inner;
    args.image_step = plan.planes * args.plane_step;
  }
  args.rows = 1, args.row_step = 0;
  args.inner = plan.width.out * plan.inner;
  args.step = narrows ? args.inner : plan.row_step;
  args.out = out;
  sum_side(device, plan.height, args, plan.images);
}

void map_bytes(const kernel::ByteMapPlan& plan, const uint8_t* in, const void* table, void* out) {
  const int device = place_of(out);
  use(device);
  device::ByteMapArguments args{};
  args.channels = plan.channels, args.height = plan.height, args.width = plan.width;
  args.image_step = plan.image_step, args.channel_step = plan.channel_step;
  args.row_step = plan.row_step, args.step = plan.step, args.table_step = plan.table_step;
  args.n = plan.images * plan.channels * plan.height * plan.width;
  args.in = in, args.table = table, args.out = out;
  if (args.n == 0) return;
  launch(device, map_kernel.on(device, of_size(plan.entry_bytes)), {blocks_for(args.n, 256)}, 256,
         args);
}

}  // namespace fb::cuda
