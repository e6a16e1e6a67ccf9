// Checks of elements. Each waits for the device, as operators ask for the answer before they go on.
#include "cuda/check.h"

#include <algorithm>

#include "cuda/copy.h"
#include "cuda/device/check_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/order.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

TypedKernel range_kernel("check.cuh", "find_out_of_range", "CheckArguments");
TypedKernel infinite_kernel("check.cuh", "find_infinite", "CheckArguments");
TypedKernel zero_kernel("check.cuh", "find_zero", "CheckArguments");
TypedKernel bounds_kernel("check.cuh", "find_out_of_bounds", "CheckArguments");
TypedKernel rising_kernel("check.cuh", "find_not_rising", "CheckArguments");

// The position of the first element that a kernel finds, or n.
int64_t find(TypedKernel& kernel, DType dtype, const void* in, int64_t n,
             device::CheckArguments args) {
  if (n == 0) return n;
  const int device = place_of(in);
  use(device);
  const Room<unsigned long long> room(device, 1);
  clear_bytes(device, room.data(), sizeof(unsigned long long));
  args.in = in;
  args.n = n;
  args.found = room.data();
  const int64_t blocks = std::min<int64_t>((n + 256 * 4 - 1) / (256 * 4), 1024);
  launch(device, kernel.on(device, dtype), {static_cast<unsigned>(blocks)}, 256, args);
  int64_t found = 0;
  to_host(room.data(), sizeof found, &found);
  return n - found;
}

}  // namespace

bool all_within(DType dtype, const void* in, int64_t n, const kernel::ValueRange& range) {
  device::CheckArguments args{};
  args.low = range.low, args.high = range.high;
  args.above = range.above, args.below = range.below, args.whole = range.whole;
  return find(range_kernel, dtype, in, n, args) == n;
}

bool all_finite(DType dtype, const void* in, int64_t n) {
  return find(infinite_kernel, dtype, in, n, {}) == n;
}

bool has_zero(DType dtype, const void* in, int64_t n) {
  return find(zero_kernel, dtype, in, n, {}) < n;
}

int64_t find_outside(const int64_t* in, int64_t n, int64_t least, int64_t greatest) {
  device::CheckArguments args{};
  args.least = least, args.greatest = greatest;
  return find(bounds_kernel, DType::kInt64, in, n, args);
}

bool all_rising(const int64_t* in, int64_t n) {
  return find(rising_kernel, DType::kInt64, in, n, {}) == n;
}

}  // namespace fb::cuda
