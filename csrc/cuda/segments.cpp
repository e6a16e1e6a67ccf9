// Values that belong to the same place, joined in a fixed order.
#include "cuda/segments.h"

#include <algorithm>
#include <bit>

#include "core/error.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/order.h"
#include "cuda/radix.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

constexpr int kThreads = 256, kWarp = 32;

TypedKernel chunks_kernel("segments.cuh", "join_chunks", "SegmentArguments");
TypedKernel parts_kernel("segments.cuh", "join_parts", "SegmentArguments");

void run(TypedKernel& kernel, int device, DType dtype, int number, const std::string& variant,
         int64_t blocks, const Segments& args) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, blocks < int64_t{1} << 31,
              "no kernel on cuda that joins so many elements");
  launch(device, kernel.on(device, dtype, number, variant.c_str()), {static_cast<unsigned>(blocks)},
         kThreads, args);
}

}  // namespace

void join_segments(int device, const Segments& segments, kernel::ScatterMode mode, DType values,
                   DType target) {
  if (segments.n == 0 || segments.width == 0) return;
  use(device);
  Segments args = segments;
  const DType key = key_type(args.limit);
  const Room<char> keys(device, args.n * static_cast<int64_t>(size_of(key)));
  const Room<unsigned> order(device, args.n);
  radix_sort(device, {.dtype = key,
                      .keys = args.keys,
                      .rows = 1,
                      .n = args.n,
                      .kept = args.n,
                      .values = keys.data(),
                      .order = order.data(),
                      .bits = bits_below(args.limit + 1)});
  args.keys = keys.data();
  args.wide = key == DType::kInt64;
  args.order = order.data();
  // Cut by the shape alone, so that sums are the same on every device.
  const bool is_wide = args.width >= kWarp;
  args.chunk = is_wide ? 32 : 8;
  args.chunks = (args.n + args.chunk - 1) / args.chunk;
  args.columns = static_cast<int>(std::min<uint64_t>(
      std::bit_ceil(static_cast<uint64_t>(args.width)), static_cast<uint64_t>(kThreads)));
  args.tiles = (args.width + args.columns - 1) / args.columns;
  args.lanes = is_wide ? 1 : kWarp;
  const auto wide = static_cast<int64_t>(std::max(size_of(values), sizeof(float)));
  const Room<char> partial(device, args.chunks > 1 ? 2 * args.chunks * args.width * wide : 0);
  args.partial = partial.data();

  const int number = static_cast<int>(mode) * kDTypeCount + static_cast<int>(target);
  const std::string variant =
      message_of(cpp_name(target), ", static_cast<ScatterMode>(", static_cast<int>(mode), ")");
  const int64_t per_block = kThreads / args.columns;
  run(chunks_kernel, device, values, number, variant,
      (args.chunks + per_block - 1) / per_block * args.tiles, args);
  if (args.chunks == 1) return;
  run(parts_kernel, device, values, number, variant,
      (args.chunks * args.width * args.lanes + kThreads - 1) / kThreads, args);
}

}  // namespace fb::cuda
