// Sorting and selection along the rows of a contiguous array.
//
// A short row is sorted by one block. Of a long one, a few first elements are found by counting the
// bytes of keys and then sorted; all of them are sorted by radix.
#include "cuda/sort.h"

#include <algorithm>
#include <bit>

#include "core/error.h"
#include "cuda/device/sort_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/order.h"
#include "cuda/radix.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using kernel::SortRows;

TypedKernel short_kernel("sort.cuh", "sort_short_rows", "ShortRowsArguments");
TypedKernel select_count_kernel("sort.cuh", "select_count", "SelectArguments");
TypedKernel select_sum_kernel("sort.cuh", "select_sum", "SelectArguments");
TypedKernel select_place_kernel("sort.cuh", "select_place", "SelectArguments");
TypedKernel mode_run_kernel("sort.cuh", "mode_run", "ModeArguments");
TypedKernel mode_write_kernel("sort.cuh", "mode_write", "ModeArguments");
TypedKernel median_kernel("sort.cuh", "median_rank", "RanksArguments");

// Items of a block that takes several rows.
constexpr int kBlockItems = 512;

unsigned checked_blocks(int64_t blocks) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, blocks < int64_t{1} << 31,
              "no kernel on cuda that sorts so many rows");
  return static_cast<unsigned>(blocks);
}

struct Results {
  void* values;
  long long* indices;
};

void sort_short(int device, const SortRows& input, int64_t kept, bool descending,
                const long long* names, const long long* ranks, const Results& out) {
  device::ShortRowsArguments args{};
  args.in = input.in;
  args.values = out.values;
  args.indices = out.indices;
  args.names = names;
  args.ranks = ranks;
  args.rows = input.rows;
  args.n = static_cast<int>(input.n);
  args.kept = static_cast<int>(kept);
  args.width = static_cast<int>(std::bit_ceil(static_cast<unsigned>(args.n)));
  args.block_rows = std::max(kBlockItems / args.width, 1);
  args.descending = descending;
  const int64_t blocks = (input.rows + args.block_rows - 1) / args.block_rows;
  launch(device, short_kernel.on(device, input.dtype), {checked_blocks(blocks)}, 256, args);
}

// The first elements of each row in the order of their positions, or only the one of a rank.
void select(int device, const SortRows& input, device::SelectArguments args, const Results& out) {
  const RowParts cut(input.rows, input.n);
  args.in = input.in;
  args.values = out.values;
  args.indices = out.indices;
  args.rows = input.rows;
  args.n = input.n;
  args.part_length = cut.length;
  args.parts = cut.parts;
  args.passes = static_cast<int>(size_of(input.dtype));
  const int64_t blocks = input.rows * cut.parts;
  const Grid grid{checked_blocks(blocks)};
  const int64_t counted = args.passes * input.rows * 256;
  const Room<unsigned> counts(device, counted);
  const Room<long long> sums(device, 2 * blocks);
  args.counts = counts.data();
  args.before = sums.data();
  args.equals = sums.data() + blocks;
  clear_bytes(device, args.counts, static_cast<size_t>(counted) * sizeof(unsigned));
  const Function count = select_count_kernel.on(device, input.dtype);
  for (args.pass = 0; args.pass < args.passes; ++args.pass) launch(device, count, grid, 256, args);
  launch(device, select_sum_kernel.on(device, input.dtype), grid, 256, args);
  launch(device, select_place_kernel.on(device, input.dtype), grid, 256, args);
}

void sort_all(int device, const SortRows& input, int64_t kept, bool descending,
              const long long* names, const Results& out) {
  if (input.n <= device::kShortRow)
    return sort_short(device, input, kept, descending, names, nullptr, out);
  radix_sort(device, {.dtype = input.dtype,
                      .keys = input.in,
                      .rows = input.rows,
                      .n = input.n,
                      .kept = kept,
                      .descending = descending,
                      .values = out.values,
                      .indices = out.indices,
                      .names = names});
}

}  // namespace

void sort_rows(const SortRows& input, int64_t k, bool descending, void* values, int64_t* indices) {
  if (input.rows == 0 || input.n == 0 || k == 0) return;
  const int device = place_of(input.in);
  use(device);
  const Results out{values, reinterpret_cast<long long*>(indices)};
  if (input.n <= device::kShortRow || k > input.n / 4)
    return sort_all(device, input, k, descending, nullptr, out);
  const Room<char> found(device, input.rows * k * static_cast<int64_t>(size_of(input.dtype)));
  const Room<long long> positions(device, input.rows * k);
  device::SelectArguments args{};
  args.rank = k - 1;
  args.kept = k;
  args.descending = descending;
  select(device, input, args, {found.data(), positions.data()});
  sort_all(device, {input.dtype, found.data(), input.rows, k}, k, descending, positions.data(),
           out);
}

void select_rows(const SortRows& input, const int64_t* ranks, void* values, int64_t* indices) {
  if (input.rows == 0 || input.n == 0) return;
  const int device = place_of(input.in);
  use(device);
  const Results out{values, reinterpret_cast<long long*>(indices)};
  const auto* wanted = reinterpret_cast<const long long*>(ranks);
  if (input.n <= device::kShortRow)
    return sort_short(device, input, 1, false, nullptr, wanted, out);
  device::SelectArguments args{};
  args.ranks = wanted;
  args.single = true;
  select(device, input, args, out);
}

void mode_rows(const SortRows& sorted, const int64_t* positions, void* values, int64_t* indices) {
  if (sorted.rows == 0 || sorted.n == 0) return;
  const int device = place_of(sorted.in);
  use(device);
  const RowParts cut(sorted.rows, sorted.n);
  const Room<unsigned long long> best(device, sorted.rows);
  clear_bytes(device, best.data(), static_cast<size_t>(sorted.rows) * sizeof(unsigned long long));
  const device::ModeArguments args{sorted.in,   reinterpret_cast<const long long*>(positions),
                                   values,      reinterpret_cast<long long*>(indices),
                                   best.data(), sorted.rows,
                                   sorted.n,    cut.length,
                                   cut.parts};
  launch(device, mode_run_kernel.on(device, sorted.dtype),
         {checked_blocks(sorted.rows * cut.parts)}, 256, args);
  launch(device, mode_write_kernel.on(device, sorted.dtype), {blocks_for(sorted.rows, 256)}, 256,
         args);
}

void median_ranks(int64_t* ranks, int64_t rows, int64_t n, bool ignore_nan) {
  if (rows == 0) return;
  const int device = place_of(ranks);
  use(device);
  const device::RanksArguments args{reinterpret_cast<long long*>(ranks), rows, n, ignore_nan};
  launch(device, median_kernel.on(device, DType::kInt64), {blocks_for(rows, 256)}, 256, args);
}

}  // namespace fb::cuda
