// Groups of equal slices.
#include "cuda/unique.h"

#include <utility>

#include "cuda/device/unique_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/order.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using kernel::Slices;

TypedKernel count_kernel("unique.cuh", "group_count", "GroupArguments");
TypedKernel place_kernel("unique.cuh", "group_place", "GroupArguments");
TypedKernel size_kernel("unique.cuh", "group_size", "GroupArguments");
TypedKernel distinct_count_kernel("unique.cuh", "distinct_count", "DistinctArguments");
TypedKernel distinct_place_kernel("unique.cuh", "distinct_place", "DistinctArguments");
TypedKernel merge_kernel("unique.cuh", "merge_runs", "MergeArguments");

}  // namespace

void sorted_order(const Slices& slices, int64_t* order) {
  if (slices.n == 0) return;
  const int device = place_of(slices.data);
  use(device);
  const Room<long long> room(device, slices.n);
  auto* const result = reinterpret_cast<long long*>(order);
  int passes = 0;
  for (int64_t run = 1; passes == 0 || run < slices.n; run *= 2) ++passes;
  // The last pass writes the result.
  long long* to = passes % 2 ? result : room.data();
  long long* other = passes % 2 ? room.data() : result;
  device::MergeArguments args{slices.data, slices.n, slices.width, 1, nullptr, nullptr};
  const Function merge = merge_kernel.on(device, slices.dtype);
  for (int pass = 0; pass < passes; ++pass) {
    args.out = to;
    launch(device, merge, {blocks_for(slices.n, 256)}, 256, args);
    args.in = to;
    args.run *= 2;
    std::swap(to, other);
  }
}

int64_t group_equal(const Slices& slices, const int64_t* order, int64_t* inverse, int64_t* firsts,
                    int64_t* counts) {
  if (slices.n == 0) return 0;
  const int device = place_of(slices.data);
  use(device);
  const PartsOf parts(device, slices.n);
  const Room<long long> starts(device, slices.n);
  device::GroupArguments args{};
  args.parts = parts.on_device();
  args.data = slices.data;
  args.width = slices.width;
  args.order = reinterpret_cast<const long long*>(order);
  args.inverse = reinterpret_cast<long long*>(inverse);
  args.firsts = reinterpret_cast<long long*>(firsts);
  args.counts = reinterpret_cast<long long*>(counts);
  args.starts = starts.data();
  launch(device, count_kernel.on(device, slices.dtype), {parts.blocks()}, 256, args);
  launch(device, place_kernel.on(device, slices.dtype), {parts.blocks()}, 256, args);
  args.groups = parts.total();
  launch(device, size_kernel.on(device, DType::kInt64), {blocks_for(args.groups, 256)}, 256, args);
  return args.groups;
}

int64_t distinct(const Slices& slices, void* out) {
  if (slices.n == 0) return 0;
  const int device = place_of(slices.data);
  use(device);
  const PartsOf parts(device, slices.n);
  const device::DistinctArguments args{parts.on_device(), slices.data, out};
  const unsigned blocks = parts.blocks();
  launch(device, distinct_count_kernel.on(device, slices.dtype), {blocks}, 256, args);
  launch(device, distinct_place_kernel.on(device, slices.dtype), {blocks}, 256, args);
  return parts.total();
}

}  // namespace fb::cuda
