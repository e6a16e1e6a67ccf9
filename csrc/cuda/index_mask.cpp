// Positions where masks are true, the elements there, and positions by counts. What depends on
// elements is known to the host after the first of two kernels.
#include <algorithm>

#include "core/checked.h"
#include "core/error.h"
#include "cuda/copy.h"
#include "cuda/device/index_mask_args.h"
#include "cuda/index.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/order.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

TypedKernel count_kernel("index_mask.cuh", "mask_count", "MaskArguments");
TypedKernel columns_kernel("index_mask.cuh", "mask_columns", "MaskArguments");
TypedKernel elements_kernel("index_mask.cuh", "mask_elements", "MaskArguments");
TypedKernel total_kernel("index_mask.cuh", "total_halves", "TotalArguments");
TypedKernel repeat_kernel("index_mask.cuh", "repeat_position", "RepeatArguments");

// Counts the true elements of a mask.
int64_t count_true(int device, const PartsOf& parts, device::MaskArguments& args,
                   const Tensor& mask) {
  args.parts = parts.on_device();
  args.mask = static_cast<const unsigned char*>(mask.data());
  launch(device, count_kernel.on(device, DType::kBool), {parts.blocks()}, 256, args);
  return parts.total();
}

}  // namespace

int64_t total_count(const int64_t* counts, int64_t n) {
  if (n == 0) return 0;
  const int device = place_of(counts);
  use(device);
  const Room<unsigned long long> room(device, 2);
  clear_bytes(device, room.data(), 2 * sizeof(unsigned long long));
  const device::TotalArguments args{reinterpret_cast<const long long*>(counts), room.data(), n};
  launch(device, total_kernel.on(device, DType::kInt64),
         {static_cast<unsigned>(std::min<int64_t>((n + 2047) / 2048, 1024))}, 256, args);
  uint64_t halves[2] = {};
  to_host(room.data(), sizeof halves, halves);
  const uint64_t high = halves[1] + (halves[0] >> 32);
  return checked_add(checked_mul(static_cast<int64_t>(high), int64_t{1} << 32),
                     static_cast<int64_t>(halves[0] & 0xffffffffu));
}

void repeat_positions(const int64_t* counts, int64_t n, int64_t* out) {
  if (n == 0) return;
  const int device = place_of(counts);
  use(device);
  const Room<long long> starts(device, n + 1);
  exclusive_sums(device, reinterpret_cast<const long long*>(counts), n, starts.data());
  const device::RepeatArguments args{starts.data(), reinterpret_cast<long long*>(out), n};
  // How many there are is not known here: enough blocks for any number, that a few do not keep
  // busy.
  launch(device, repeat_kernel.on(device, DType::kInt64), {1024}, 256, args);
}

Tensor nonzero_columns(const Tensor& mask) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, mask.dim() <= device::kMaskDims,
              "no kernel on cuda for more than ", device::kMaskDims, " dimensions");
  const int device = place_of(mask);
  use(device);
  const Function place = columns_kernel.on(device, DType::kBool);
  const PartsOf parts(device, mask.numel());
  device::MaskArguments args{};
  args.count = count_true(device, parts, args, mask);
  Tensor columns = make_tensor({mask.dim(), args.count}, DType::kInt64, mask.device());
  if (columns.numel() == 0) return columns;
  args.columns = static_cast<long long*>(columns.data());
  args.dims = static_cast<int>(mask.dim());
  for (int d = 0; d < args.dims; ++d) args.sizes[d] = mask.sizes()[d];
  launch(device, place, {parts.blocks()}, 256, args);
  return columns;
}

Tensor compress(const Tensor& input, const Tensor& mask) {
  const int device = place_of(mask);
  use(device);
  const Function place = elements_kernel.on(device, of_size(input.dtype()));
  const PartsOf parts(device, mask.numel());
  device::MaskArguments args{};
  args.count = count_true(device, parts, args, mask);
  Tensor out = make_tensor({args.count}, input.dtype(), input.device());
  if (args.count == 0) return out;
  args.in = input.data();
  args.out = out.data();
  launch(device, place, {parts.blocks()}, 256, args);
  return out;
}

}  // namespace fb::cuda
