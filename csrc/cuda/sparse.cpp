// Positions of the blocks of sparse tensors.
#include "cuda/sparse.h"

#include "core/error.h"
#include "cuda/check.h"
#include "cuda/device/sparse_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/order.h"
#include "cuda/radix.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

TypedKernel number_kernel("sparse.cuh", "number_position", "PositionArguments");
TypedKernel locate_kernel("sparse.cuh", "locate_position", "PositionArguments");
TypedKernel group_count_kernel("sparse.cuh", "position_group_count", "PositionGroupArguments");
TypedKernel group_place_kernel("sparse.cuh", "position_group_place", "PositionGroupArguments");
TypedKernel match_count_kernel("sparse.cuh", "match_count", "MatchArguments");
TypedKernel match_place_kernel("sparse.cuh", "match_place", "MatchArguments");
TypedKernel number_from_kernel("sparse.cuh", "number_from", "NumberArguments");

const long long* as_long(const int64_t* numbers) {
  return reinterpret_cast<const long long*>(numbers);
}
long long* as_long(int64_t* numbers) { return reinterpret_cast<long long*>(numbers); }

void run_positions(TypedKernel& kernel, const int64_t* in, int64_t n, IntSpan sizes, int64_t* out) {
  if (n == 0) return;
  FB_CHECK_AS(ErrorKind::kNotImplemented, sizes.size() <= device::kSparseDims,
              "no kernel on cuda for more than ", device::kSparseDims, " sparse dimensions");
  const int device = place_of(out);
  use(device);
  device::PositionArguments args{as_long(in), as_long(out), n, static_cast<int>(sizes.size()), {}};
  for (size_t d = 0; d < sizes.size(); ++d) args.sizes[d] = sizes[d];
  launch(device, kernel.on(device, DType::kInt64), {blocks_for(n, 256)}, 256, args);
}

// Returns how many of the positions are in the list, if that is wanted.
int64_t run_match(const int64_t* positions, int64_t n, const int64_t* list, int64_t count,
                  int64_t* of_positions, int64_t* of_list, bool wants_count = true) {
  if (n == 0) return 0;
  const int device = place_of(positions);
  use(device);
  const PartsOf parts(device, n);
  const device::MatchArguments args{parts.on_device(),     as_long(positions), as_long(list), count,
                                    as_long(of_positions), as_long(of_list)};
  launch(device, match_count_kernel.on(device, DType::kInt64), {parts.blocks()}, 256, args);
  launch(device, match_place_kernel.on(device, DType::kInt64), {parts.blocks()}, 256, args);
  return wants_count ? parts.total() : 0;
}

}  // namespace

void number_positions(const int64_t* coordinates, int64_t n, IntSpan sizes, int64_t* positions) {
  run_positions(number_kernel, coordinates, n, sizes, positions);
}

void locate_positions(const int64_t* positions, int64_t n, IntSpan sizes, int64_t* coordinates) {
  run_positions(locate_kernel, positions, n, sizes, coordinates);
}

int64_t group_positions(const int64_t* positions, int64_t n, int64_t limit, int64_t* distinct,
                        int64_t* groups) {
  if (n == 0) return 0;
  const int device = place_of(positions);
  use(device);
  const Room<int64_t> sorted(device, n), order(device, n);
  sort_numbers(device, positions, n, limit, sorted.data(), order.data());
  const PartsOf parts(device, n);
  const device::PositionGroupArguments args{parts.on_device(), as_long(sorted.data()),
                                            as_long(order.data()), as_long(distinct),
                                            as_long(groups)};
  launch(device, group_count_kernel.on(device, DType::kInt64), {parts.blocks()}, 256, args);
  launch(device, group_place_kernel.on(device, DType::kInt64), {parts.blocks()}, 256, args);
  return parts.total();
}

// Lists that are not sorted are concatenated: the blocks of such tensors have no order anyway.
int64_t merge_positions(const int64_t* a, int64_t a_count, const int64_t* b, int64_t b_count,
                        bool by_position, int64_t* of_a, int64_t* of_b) {
  if (by_position && all_rising(a, a_count) && all_rising(b, b_count)) {
    const int64_t common = run_match(a, a_count, b, b_count, of_a, nullptr);
    run_match(b, b_count, a, a_count, of_b, nullptr, false);
    return a_count + b_count - common;
  }
  const auto number = [](int64_t* out, int64_t n, int64_t first) {
    if (n == 0) return;
    const int device = place_of(out);
    use(device);
    const device::NumberArguments args{as_long(out), n, first};
    launch(device, number_from_kernel.on(device, DType::kInt64), {blocks_for(n, 256)}, 256, args);
  };
  number(of_a, a_count, 0);
  number(of_b, b_count, a_count);
  return a_count + b_count;
}

int64_t match_positions(const int64_t* positions, int64_t n, const int64_t* list, int64_t count,
                        int64_t* of_positions, int64_t* of_list) {
  return run_match(positions, n, list, count, of_positions, of_list);
}

}  // namespace fb::cuda
