// Building blocks of what orders elements.
#include "cuda/order.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "cuda/allocator.h"
#include "cuda/copy.h"
#include "cuda/launch.h"

namespace fb::cuda {
namespace {

TypedKernel totals_kernel("order.cuh", "sum_parts", "SumsArguments");
TypedKernel sums_kernel("order.cuh", "exclusive_sums", "SumsArguments");
TypedKernel count_kernel("order.cuh", "radix_count", "RadixArguments");
TypedKernel scatter_kernel("order.cuh", "radix_scatter", "RadixArguments");

constexpr int kDigits = 256;

int64_t divided(int64_t n, int64_t by) { return (n + by - 1) / by; }

// Of at most `most` parts, as many as there are tiles.
int64_t part_length(int64_t n, int64_t most) {
  return std::max<int64_t>(divided(divided(n, most), device::kPartTile), 1) * device::kPartTile;
}

}  // namespace

Storage allocate_room(int device, size_t bytes) {
  return allocate(std::max<size_t>(bytes, 1),
                  Device(DeviceType::kCuda, static_cast<int8_t>(device)));
}

void clear_bytes(int device, void* at, size_t bytes) {
  use(device);
  if (bytes) FB_CUDA(set_bytes, reinterpret_cast<Address>(at), 0, bytes, current_stream(device));
}

PartsOf::PartsOf(int device, int64_t n) : totals_(device, device::kMostParts) {
  parts_.n = n;
  parts_.length = part_length(n, device::kMostParts);
  parts_.count = static_cast<int>(std::max<int64_t>(divided(n, parts_.length), 1));
  parts_.totals = totals_.data();
}

int64_t PartsOf::total() const {
  std::vector<int64_t> totals(static_cast<size_t>(parts_.count));
  to_host(parts_.totals, totals.size() * sizeof(int64_t), totals.data());
  return std::accumulate(totals.begin(), totals.end(), int64_t{0});
}

void exclusive_sums(int device, const long long* in, int64_t n, long long* out) {
  use(device);
  const PartsOf parts(device, n);
  const device::SumsArguments args{parts.on_device(), in, out};
  if (parts.blocks() > 1)
    launch(device, totals_kernel.on(device, DType::kInt64), {parts.blocks()}, 256, args);
  launch(device, sums_kernel.on(device, DType::kInt64), {parts.blocks()}, 256, args);
}

RowParts::RowParts(int64_t rows, int64_t n)
    : length(part_length(n, std::max<int64_t>(device::kMostParts / std::max<int64_t>(rows, 1), 1))),
      parts(static_cast<int>(std::max<int64_t>(divided(n, length), 1))) {}

void radix_sort(int device, const RadixSort& sort) {
  if (sort.rows == 0 || sort.n == 0 || sort.kept == 0) return;
  const RowParts cut(sort.rows, sort.n);
  const int64_t blocks = sort.rows * cut.parts;
  FB_CHECK_AS(ErrorKind::kNotImplemented, sort.n < int64_t{1} << 32 && blocks < int64_t{1} << 31,
              "no kernel on cuda that sorts so many elements");
  use(device);
  const size_t size = size_of(sort.dtype);
  const int bits = sort.dtype == DType::kBool ? 1 : static_cast<int>(8 * size);
  const int passes = std::max((std::min(bits, sort.bits) + 7) / 8, 1);
  const int64_t n = sort.rows * sort.n;
  const Room<long long> counts(device, blocks * kDigits + 1);
  const Room<char> keys_a(device, passes > 1 ? n * static_cast<int64_t>(size) : 0);
  const Room<char> keys_b(device, passes > 2 ? n * static_cast<int64_t>(size) : 0);
  const Room<unsigned> positions_a(device, passes > 1 ? n : 0);
  const Room<unsigned> positions_b(device, passes > 2 ? n : 0);

  device::RadixArguments args{};
  args.keys = sort.keys;
  args.names = sort.names;
  args.counts = counts.data();
  args.n = sort.n;
  args.kept = sort.kept;
  args.part_length = cut.length;
  args.parts = cut.parts;
  args.descending = sort.descending;
  for (int pass = 0; pass < passes; ++pass) {
    args.shift = 8 * pass;
    args.last = pass == passes - 1;
    args.keys_out = args.last ? sort.values : pass % 2 ? keys_b.data() : keys_a.data();
    args.positions_out = args.last ? nullptr : pass % 2 ? positions_b.data() : positions_a.data();
    args.indices = args.last ? sort.indices : nullptr;
    launch(device, count_kernel.on(device, sort.dtype), {static_cast<unsigned>(blocks)}, 256, args);
    exclusive_sums(device, counts.data(), blocks * kDigits, counts.data());
    launch(device, scatter_kernel.on(device, sort.dtype), {static_cast<unsigned>(blocks)}, 256,
           args);
    args.keys = args.keys_out;
    args.positions = args.positions_out;
  }
}

void sort_numbers(int device, const int64_t* numbers, int64_t n, int64_t bound, int64_t* sorted,
                  int64_t* positions) {
  RadixSort sort{.dtype = DType::kInt64, .keys = numbers, .rows = 1, .n = n, .kept = n};
  sort.values = sorted;
  sort.indices = reinterpret_cast<long long*>(positions);
  sort.bits =
      static_cast<int>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(bound, 2) - 1)));
  radix_sort(device, sort);
}

}  // namespace fb::cuda
