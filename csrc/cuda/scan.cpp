// Running sums, products and extrema along one dimension.
//
// If there are too few rows or columns for all blocks, they are cut into segments by their shape: a
// first kernel computes their totals, from which the second one starts.
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

TypedKernel column_totals_kernel("scan.cuh", "column_totals", "ScanArguments");
TypedKernel columns_kernel("scan.cuh", "scan_columns", "ScanArguments");
TypedKernel chunk_totals_kernel("scan.cuh", "chunk_totals", "ScanArguments");
TypedKernel chunks_kernel("scan.cuh", "scan_chunks", "ScanArguments");
TypedKernel rows_kernel("scan.cuh", "scan_rows", "ScanArguments");

// As device::ScanOp.
constexpr const char* kVariants[] = {"ScanOp::kSum", "ScanOp::kProd", "ScanOp::kLogSumExp",
                                     "ScanOp::kMax", "ScanOp::kMin",  "ScanOp::kRecurrence",
                                     "ScanOp::kRuns"};
constexpr int kRecurrence = 5, kRuns = 6;

constexpr int64_t kThreads = 256, kWarp = 32;
constexpr int64_t kLargestTotal = 32;  // bytes

// Elements of rows that a warp scans, and of rows that a block does however few there are.
constexpr int64_t kWarpRow = 2048, kBlockRow = 16384;
// Rows of which each is left to one block, and how many chunks there are of fewer rows.
constexpr int64_t kEnoughRows = 512, kChunks = 2048;
// Chunks are multiples of what a block takes at once.
constexpr int64_t kChunkBytes = 16384;

constexpr int64_t kEnoughBlocks = 1024, kMostSegments = 512, kLeastSegment = 64;

int64_t divided(int64_t n, int64_t by) { return (n + by - 1) / by; }

struct Kernels {
  TypedKernel &totals, &elements;
};

// `segments`: how many are wanted.
void run_segments(int device, int op, DType dtype, device::ScanArguments args, int64_t multiple_of,
                  int64_t segments, const Kernels& kernels) {
  args.segment_length = divided(divided(args.n, segments), multiple_of) * multiple_of;
  args.segments = divided(args.n, args.segment_length);
  const Room<char> totals(device,
                          args.segments > 1 ? args.rows * args.segments * kLargestTotal : 0);
  args.totals = totals.data();
  const bool columns = args.inner > 1;
  const int64_t blocks = columns ? divided(args.rows, kThreads) : args.rows * args.segments;
  FB_CHECK_AS(ErrorKind::kNotImplemented, blocks < int64_t{1} << 31,
              "no kernel on cuda that scans so many elements");
  const Grid grid{static_cast<unsigned>(blocks),
                  columns ? static_cast<unsigned>(args.segments) : 1};
  if (args.segments > 1)
    launch(device, kernels.totals.on(device, dtype, op, kVariants[op]), grid, 256, args);
  launch(device, kernels.elements.on(device, dtype, op, kVariants[op]), grid, 256, args);
}

void run(int device, int op, DType dtype, device::ScanArguments args) {
  if (args.rows == 0 || args.n == 0) return;
  use(device);
  if (args.inner > 1) {
    const int64_t wanted = divided(kEnoughBlocks, divided(args.rows, kThreads));
    const int64_t most = std::min<int64_t>(args.n / kLeastSegment, kMostSegments);
    return run_segments(device, op, dtype, args, 1,
                        std::clamp<int64_t>(wanted, 1, std::max<int64_t>(most, 1)),
                        {column_totals_kernel, columns_kernel});
  }
  if (args.n > kWarpRow) {
    const bool is_whole = args.rows >= kEnoughRows || args.n <= kBlockRow;
    return run_segments(device, op, dtype, args, kChunkBytes / static_cast<int64_t>(size_of(dtype)),
                        is_whole ? 1 : divided(kChunks, args.rows),
                        {chunk_totals_kernel, chunks_kernel});
  }
  args.lanes = static_cast<int>(std::clamp<int64_t>(
      static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(args.n)) / 4), 1, kWarp));
  const int64_t blocks = divided(args.rows, kThreads / args.lanes);
  launch(device, rows_kernel.on(device, dtype, op, kVariants[op]), {static_cast<unsigned>(blocks)},
         256, args);
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
