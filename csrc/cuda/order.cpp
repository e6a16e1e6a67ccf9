// Building blocks of what orders elements.
#include "cuda/order.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "cuda/allocator.h"
#include "cuda/copy.h"
#include "cuda/launch.h"

namespace fb::cuda {
namespace {

TypedKernel totals_kernel("order.cuh", "sum_parts", "SumsArguments");
TypedKernel sums_kernel("order.cuh", "exclusive_sums", "SumsArguments");

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

}  // namespace fb::cuda
