// Running sums, products and extrema along one dimension.
//
// Long rows are read once. If there are too few columns for all blocks, they are cut into segments:
// a first kernel computes their totals, from which the second one starts.
#include "cuda/scan.h"

#include <algorithm>
#include <bit>

#include "core/error.h"
#include "cuda/device/scan_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/order.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using kernel::ScanOp;
using kernel::ScanShape;

TypedKernel totals_kernel("scan.cuh", "scan_totals", "ScanArguments");
TypedKernel long_kernel("scan.cuh", "scan_long_rows", "ScanArguments");
TypedKernel elements_kernel("scan.cuh", "scan_elements", "ScanArguments");

// As device::ScanOp.
constexpr const char* kVariants[] = {"ScanOp::kSum", "ScanOp::kProd", "ScanOp::kLogSumExp",
                                     "ScanOp::kMax", "ScanOp::kMin",  "ScanOp::kRecurrence",
                                     "ScanOp::kRuns"};
constexpr int kRecurrence = 5, kRuns = 6;

constexpr int64_t kThreads = 256, kEnoughBlocks = 1024, kMostSegments = 512;
constexpr int64_t kLargestTotal = 32;

// Tiles from which on a row is long.
constexpr int64_t kLongRow = 2;

int64_t divided(int64_t n, int64_t by) { return (n + by - 1) / by; }

void run_long(int device, int op, DType dtype, device::ScanArguments args, int64_t tiles) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, args.rows < (int64_t{1} << 31) / tiles,
              "no kernel on cuda that scans so many elements");
  // A ticket, and words of totals with a flag each.
  constexpr int64_t kHead = 16;
  const int64_t bytes = kHead + args.rows * device::scan_states(tiles) * 2 * kLargestTotal;
  const Room<char> room(device, bytes);
  clear_bytes(device, room.data(), static_cast<size_t>(bytes));
  args.ticket = reinterpret_cast<unsigned*>(room.data());
  args.states = reinterpret_cast<unsigned long long*>(room.data() + kHead);
  args.tiles = static_cast<int>(tiles);
  launch(device, long_kernel.on(device, dtype, op, kVariants[op]),
         {static_cast<unsigned>(args.rows * tiles)}, 256, args);
}

void run(int device, int op, DType dtype, device::ScanArguments args) {
  if (args.rows == 0 || args.n == 0) return;
  use(device);
  const int64_t tiles =
      divided(args.n, device::kScanTileBytes / static_cast<int64_t>(size_of(dtype)));
  if (args.inner == 1 && tiles >= kLongRow) return run_long(device, op, dtype, args, tiles);
  args.lanes = args.inner > 1
                   ? 1
                   : static_cast<int>(std::clamp<int64_t>(
                         static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(args.n)) / 4), 1,
                         kThreads));
  const int64_t blocks = divided(args.rows, kThreads / args.lanes);
  const int64_t wanted = divided(kEnoughBlocks, blocks);
  args.segments =
      args.inner > 1 ? std::clamp<int64_t>(std::min<int64_t>(wanted, args.n / 64), 1, kMostSegments)
                     : 1;
  args.segment_length = divided(args.n, args.segments);
  args.segments = divided(args.n, args.segment_length);
  const Grid grid{static_cast<unsigned>(blocks), static_cast<unsigned>(args.segments)};
  const Room<char> totals(device,
                          args.segments > 1 ? args.rows * args.segments * kLargestTotal : 0);
  args.totals = totals.data();
  if (args.segments > 1)
    launch(device, totals_kernel.on(device, dtype, op, kVariants[op]), grid, 256, args);
  launch(device, elements_kernel.on(device, dtype, op, kVariants[op]), grid, 256, args);
}

device::ScanArguments arguments_of(const void* in, void* out, const ScanShape& shape) {
  device::ScanArguments args{};
  args.in = in;
  args.out = out;
  args.rows = shape.outer * shape.inner;
  args.n = shape.n;
  args.inner = shape.inner;
  return args;
}

}  // namespace

void scan(ScanOp op, DType dtype, const void* in, void* out, const ScanShape& shape) {
  run(place_of(in), static_cast<int>(op), dtype, arguments_of(in, out, shape));
}

void scan_extremum(ScanOp op, DType dtype, const void* in, void* out, int64_t* indices,
                   const ScanShape& shape) {
  device::ScanArguments args = arguments_of(in, out, shape);
  args.indices = reinterpret_cast<long long*>(indices);
  run(place_of(in), static_cast<int>(op), dtype, args);
}

void recurrence(DType dtype, const void* in, const void* factor, void* out, const ScanShape& shape,
                bool reverse) {
  device::ScanArguments args = arguments_of(in, out, shape);
  args.factor = factor;
  args.reverse = reverse;
  run(place_of(in), kRecurrence, dtype, args);
}

void sum_runs(int device, DType dtype, const int64_t* keys, const int64_t* order, const void* in,
              int64_t n, int64_t limit, void* sums) {
  device::ScanArguments args = arguments_of(in, sums, {1, n, 1});
  args.keys = reinterpret_cast<const long long*>(keys);
  args.order = reinterpret_cast<const long long*>(order);
  args.limit = limit;
  run(device, kRuns, dtype, args);
}

}  // namespace fb::cuda
