// Elements picked by position.
//
// Kernels move elements without looking at them, so they are instantiated for sizes, not for types.
#include "cuda/index.h"

#include <cstring>

#include "core/error.h"
#include "cuda/device/index_args.h"
#include "cuda/device_error.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"
#include "kernel/table.h"

namespace fb::cuda {
namespace {

TypedKernel pick_kernel("index.cuh", "pick_element", "PickArguments");
TypedKernel put_kernel("index.cuh", "put_element", "PickArguments");
TypedKernel gather_kernel("index.cuh", "gather_element", "GatherArguments");
TypedKernel scatter_kernel("index.cuh", "scatter_element", "GatherArguments");
TypedKernel masked_fill_kernel("index.cuh", "masked_fill_element", "MaskedFillArguments");

// A type whose elements are as large.
DType of_size(DType dtype) {
  switch (size_of(dtype)) {
    case 1: return DType::kUInt8;
    case 2: return DType::kInt16;
    case 4: return DType::kInt32;
    case 8: return DType::kInt64;
    default: return DType::kComplex128;
  }
}

device::IndexDims dims_of(const Tensor& t, size_t from, size_t to) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, to - from <= device::kIndexDims,
              "no kernel on cuda for more than ", device::kIndexDims, " dimensions");
  device::IndexDims dims{};
  for (size_t d = from; d < to; ++d) {
    dims.sizes[dims.count] = t.sizes()[d];
    dims.strides[dims.count++] = t.strides()[d];
  }
  return dims;
}

void run_picks(TypedKernel& kernel, const kernel::Picks& picks, const Tensor& values) {
  if (values.numel() == 0) return;
  const Tensor& target = picks.target;
  const int device = place_of(target);
  use(device);
  const auto before = static_cast<size_t>(picks.before);
  const size_t behind = before + picks.positions.size();
  device::PickArguments args{};
  args.array = target.data();
  args.values = values.data();
  args.n = values.numel();
  args.picked = picks.count();
  args.before = dims_of(target, 0, before);
  args.at = dims_of(target, before, behind);
  args.after = dims_of(target, behind, target.sizes().size());
  args.after_size = 1;
  for (int d = 0; d < args.after.count; ++d) args.after_size *= args.after.sizes[d];
  for (size_t d = 0; d < picks.positions.size(); ++d)
    args.positions[d] = static_cast<const long long*>(picks.positions[d].data());
  args.from_the_end = picks.from_the_end;
  args.error = error_record(device);
  launch(device, kernel.on(device, of_size(target.dtype())), {blocks_for(args.n, 256)}, 256, args);
}

void run_gather(TypedKernel& kernel, const Tensor& array, int64_t dim, const Tensor& index,
                const Tensor& values) {
  if (index.numel() == 0) return;
  const int device = place_of(array);
  use(device);
  device::GatherArguments args{};
  args.array = array.data();
  args.values = values.data();
  args.index = static_cast<const long long*>(index.data());
  args.n = index.numel();
  args.dims = dims_of(array, 0, array.sizes().size());
  for (int d = 0; d < args.dims.count; ++d) args.dims.sizes[d] = index.sizes()[d];
  args.dimension = static_cast<int>(dim);
  args.array_size = array.dim() ? array.sizes()[dim] : 1;
  args.error = error_record(device);
  launch(device, kernel.on(device, of_size(array.dtype())), {blocks_for(args.n, 256)}, 256, args);
}

Tensor contiguous_copy(const Tensor& t) {
  if (t.is_contiguous()) return t;
  Tensor whole = make_tensor(t.sizes(), t.dtype(), t.device());
  kernel::copy(whole, t);
  return whole;
}

}  // namespace

void pick(const Tensor& out, const kernel::Picks& picks) { run_picks(pick_kernel, picks, out); }

void index_put(const kernel::Picks& picks, const Tensor& values, bool accumulate) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, !accumulate, "no kernel on cuda that accumulates");
  run_picks(put_kernel, picks, contiguous_copy(values));
}

void gather(const Tensor& out, const Tensor& input, int64_t dim, const Tensor& index) {
  run_gather(gather_kernel, input, dim, index, out);
}

void scatter(const Tensor& target, int64_t dim, const Tensor& index, const Tensor& source,
             kernel::ScatterMode mode) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, mode == kernel::ScatterMode::kStore,
              "no kernel on cuda that combines elements");
  run_gather(scatter_kernel, target, dim, index, contiguous_copy(source));
}

void masked_fill(const Tensor& out, const Tensor& input, const Tensor& mask, const void* value) {
  if (out.numel() == 0) return;
  const int device = place_of(out);
  use(device);
  device::MaskedFillArguments args{};
  std::memcpy(args.value, value, out.element_size());
  args.out = out.data();
  args.in = input.data();
  args.mask = static_cast<const unsigned char*>(mask.data());
  args.n = out.numel();
  launch(device, masked_fill_kernel.on(device, of_size(out.dtype())), {blocks_for(args.n, 256)},
         256, args);
}

}  // namespace fb::cuda
