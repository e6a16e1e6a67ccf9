// A stable radix sort of rows: a kernel that counts, and one for each byte of keys.
#include "cuda/radix.h"

#include <algorithm>
#include <bit>

#include "core/error.h"
#include "cuda/launch.h"
#include "cuda/order.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

TypedKernel count_kernel("radix.cuh", "radix_count", "RadixArguments");
TypedKernel pass_kernel("radix.cuh", "radix_pass", "RadixArguments");

constexpr int64_t kDigits = 256;

int64_t tile_of(size_t size) {
  const int items = size == 8   ? device::kRadixItems<8>
                    : size == 4 ? device::kRadixItems<4>
                    : size == 2 ? device::kRadixItems<2>
                                : device::kRadixItems<1>;
  return kDigits * items;
}

}  // namespace

void radix_sort(int device, const RadixSort& sort) {
  if (sort.rows == 0 || sort.n == 0 || sort.kept == 0) return;
  const auto size = static_cast<int64_t>(size_of(sort.dtype));
  const int64_t tile = tile_of(static_cast<size_t>(size)), tiles = (sort.n + tile - 1) / tile;
  const RowParts cut(sort.rows, sort.n);
  FB_CHECK_AS(ErrorKind::kNotImplemented,
              sort.n < int64_t{1} << 32 &&
                  sort.rows < (int64_t{1} << 31) / std::max<int64_t>(tiles, cut.parts),
              "no kernel on cuda that sorts so many elements");
  use(device);
  const int bits = sort.dtype == DType::kBool ? 1 : static_cast<int>(8 * size);
  const int passes = std::max((std::min(bits, sort.bits) + 7) / 8, 1);
  const bool pairs = sort.indices || sort.order;
  // Counts of a row that fit below two bits.
  const bool is_wide = sort.n >= int64_t{1} << 30;
  const int64_t n = sort.rows * sort.n, state = is_wide ? 8 : 4;

  const Room<char> keys_a(device, passes > 1 ? n * size : 0);
  const Room<char> keys_b(device, passes > 2 ? n * size : 0);
  const Room<unsigned> positions_a(device, passes > 1 && pairs ? n : 0);
  const Room<unsigned> positions_b(device, passes > 2 && pairs ? n : 0);
  // Zeros: the bits that vary, a ticket for each pass, counts of digits, states of tiles.
  constexpr int64_t kHead = 64;
  const int64_t counted = sort.rows * passes * kDigits * static_cast<int64_t>(sizeof(unsigned));
  const int64_t of_pass = sort.rows * tiles * kDigits * state;
  const int64_t zeros = kHead + counted + passes * of_pass;
  const Room<char> room(device, zeros);
  clear_bytes(device, room.data(), static_cast<size_t>(zeros));

  device::RadixArguments args{};
  args.keys = sort.keys;
  args.names = sort.names;
  args.values = sort.values;
  args.indices = sort.indices;
  args.order = sort.order;
  args.room_keys[0] = keys_a.data(), args.room_keys[1] = keys_b.data();
  args.room_positions[0] = positions_a.data(), args.room_positions[1] = positions_b.data();
  args.varied = reinterpret_cast<unsigned long long*>(room.data());
  args.counts = reinterpret_cast<unsigned*>(room.data() + kHead);
  args.n = sort.n;
  args.kept = sort.kept;
  args.part_length = cut.length;
  args.parts = cut.parts;
  args.tiles = static_cast<int>(tiles);
  args.passes = passes;
  args.descending = sort.descending;
  launch(device, count_kernel.on(device, sort.dtype),
         {static_cast<unsigned>(sort.rows * cut.parts)}, 256, args);
  const char* const variant = is_wide
                                  ? pairs ? "true, unsigned long long" : "false, unsigned long long"
                              : pairs ? "true, unsigned"
                                      : "false, unsigned";
  const Function pass = pass_kernel.on(device, sort.dtype, 2 * is_wide + pairs, variant);
  auto* const tickets = reinterpret_cast<unsigned*>(room.data() + sizeof(unsigned long long));
  for (args.launch = 0; args.launch < passes; ++args.launch) {
    args.ticket = tickets + args.launch;
    args.states = room.data() + kHead + counted + args.launch * of_pass;
    launch(device, pass, {static_cast<unsigned>(sort.rows * tiles)}, 256, args);
  }
}

int bits_below(int64_t bound) {
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(bound, 2) - 1)));
}

void sort_numbers(int device, const int64_t* numbers, int64_t n, int64_t bound, int64_t* sorted,
                  int64_t* positions) {
  RadixSort sort{.dtype = DType::kInt64, .keys = numbers, .rows = 1, .n = n, .kept = n};
  sort.values = sorted;
  sort.indices = reinterpret_cast<long long*>(positions);
  sort.bits = bits_below(bound);
  radix_sort(device, sort);
}

}  // namespace fb::cuda
