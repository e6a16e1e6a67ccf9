// Reductions over any set of dimensions.
#include "cuda/reduce.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "core/dims.h"
#include "cuda/allocator.h"
#include "cuda/device/reduce_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

constexpr int kThreads = 256;
// Enough blocks for any device; the same on all, so that sums are cut alike.
constexpr int64_t kEnoughBlocks = 1024;
constexpr int64_t kMostSegments = 512;
constexpr size_t kLargestAccumulator = 24;
// Packs or elements of a row that a thread should have: as many as it reads together.
constexpr int64_t kHeld = 8;
// Threads of a row that are neighbours in any case, so that whole sectors of memory are read.
constexpr int64_t kSideBySide = 4;

TypedKernel elements_kernel("reduce.cuh", "reduce_elements", "ReduceArguments");
TypedKernel segments_kernel("reduce.cuh", "reduce_segments", "ReduceArguments");

struct Dimension {
  int64_t size, in, out;
};

// Slowest in memory first, neighbours joined. The order of elements matters to nobody but the
// positions of extrema, which have one dimension.
device::ReduceLoop simplified(SmallVec<Dimension, 6>& dims) {
  std::stable_sort(dims.begin(), dims.end(), [](const Dimension& a, const Dimension& b) {
    return std::abs(a.in) > std::abs(b.in);
  });
  device::ReduceLoop loop{};
  for (const Dimension& d : dims) {
    const int last = loop.dims - 1;
    if (last >= 0 && loop.in[last] == d.in * d.size && loop.out[last] == d.out * d.size) {
      loop.sizes[last] *= d.size;
      loop.in[last] = d.in;
      loop.out[last] = d.out;
      continue;
    }
    FB_CHECK_AS(ErrorKind::kNotImplemented, loop.dims < device::kReduceDims,
                "no kernel on cuda for reductions of more than ", device::kReduceDims,
                " separate dimensions");
    loop.sizes[loop.dims] = d.size;
    loop.in[loop.dims] = d.in;
    loop.out[loop.dims++] = d.out;
  }
  return loop;
}

int64_t divided(int64_t n, int64_t by) { return (n + by - 1) / by; }

int lanes_for(int64_t length, int64_t most) {
  const auto wanted = static_cast<uint64_t>(std::max<int64_t>(length, 1));
  return static_cast<int>(std::min(static_cast<int64_t>(std::bit_ceil(wanted)), most));
}

}  // namespace

void reduce(kernel::ReduceOp op, DType dtype, const kernel::ReduceArgs& given) {
  device::ReduceArguments args{};
  args.in = given.in;
  args.out = given.out;
  args.out2 = given.out2;
  args.param = given.param;
  args.results = args.length = 1;
  SmallVec<Dimension, 6> kept, reduced;
  int64_t fastest = INT64_MAX;
  bool fastest_is_kept = false;
  for (int d = 0; d < given.ndim; ++d) {
    const int64_t size = given.sizes[d];
    (given.reduced[d] ? args.length : args.results) *= size;
    if (size == 1) continue;
    if (given.reduced[d])
      reduced.push_back({size, given.in_strides[d], 0});
    else
      kept.push_back({size, given.in_strides[d], given.out_strides[d]});
    const int64_t step = std::abs(given.in_strides[d]);
    if (step < fastest) fastest = step, fastest_is_kept = !given.reduced[d];
  }
  if (args.results == 0) return;
  if (args.length == 0) reduced.clear();
  args.kept = simplified(kept);
  args.reduced = simplified(reduced);
  args.columns = fastest_is_kept && args.results > 1;
  const auto pack = static_cast<int64_t>(std::max<size_t>(16 / size_of(dtype), 1));
  const bool neighbours = !args.columns && args.reduced.dims == 1 && args.reduced.in[0] == 1;
  const auto whole_packs = [&](int64_t elements) { return elements % pack == 0; };
  const bool packed =
      neighbours && (args.results == 1 ||
                     (whole_packs(args.length) &&
                      std::all_of(args.kept.in, args.kept.in + args.kept.dims, whole_packs)));
  const bool aligned = reinterpret_cast<uintptr_t>(given.in) % 16 == 0;
  if (args.columns) {
    args.lanes = lanes_for(args.length / 4, args.results >= 32 ? 8 : 64);
  } else {
    const int64_t reads = divided(args.length, packed ? pack : 1);
    args.lanes =
        std::max(lanes_for(divided(reads, kHeld), kThreads), lanes_for(reads, kSideBySide));
  }
  const int64_t blocks = divided(args.results, kThreads / args.lanes);
  const int64_t wanted = divided(kEnoughBlocks, blocks);
  const int64_t possible = args.length / (args.lanes * (packed ? pack * kHeld : 16));
  args.segments = std::clamp<int64_t>(std::min(wanted, possible), 1, kMostSegments);
  args.segment_length = divided(divided(std::max<int64_t>(args.length, 1), args.segments), pack);
  args.segment_length *= pack;
  args.segments = divided(std::max<int64_t>(args.length, 1), args.segment_length);

  const int device = place_of(given.in ? given.in : given.out);
  use(device);
  Storage partial;
  if (args.segments > 1) {
    partial = allocate(static_cast<size_t>(args.results * args.segments) * kLargestAccumulator,
                       Device(DeviceType::kCuda, static_cast<int8_t>(device)));
    args.partial = partial->data;
  }
  const int number = static_cast<int>(op);
  const std::string variant = message_of("static_cast<ReduceOp>(", number, ")");
  const int reads = packed ? (aligned ? 0 : 1) : args.reduced.dims <= 1 ? 2 : 3;
  const std::string reading = message_of(variant, ", static_cast<ReduceReads>(", reads, ")");
  launch(device, elements_kernel.on(device, dtype, 4 * number + reads, reading.c_str()),
         {static_cast<unsigned>(blocks), static_cast<unsigned>(args.segments)}, kThreads, args);
  if (args.segments == 1) return;
  args.columns = false;
  args.lanes = lanes_for(args.segments, kThreads);
  launch(device, segments_kernel.on(device, dtype, number, variant.c_str()),
         {blocks_for(args.results, kThreads / args.lanes)}, kThreads, args);
}

}  // namespace fb::cuda
