// Copies between the host and a device, and on a device.
//
// Elements cross between host and device as they lie, in one piece; what has gaps or another type
// is first made to lie so on the side that is faster at it, which is the device unless the other
// type is the smaller one.
#include "cuda/copy.h"

#include "core/nonblocking.h"
#include "cuda/allocator.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/pinned.h"
#include "cuda/stream.h"
#include "cuda/transpose.h"
#include "kernel/table.h"

namespace fb::cuda {
namespace {

using Kind = LoopOperand::Kind;

Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }

size_t bytes_of(const Tensor& t) { return static_cast<size_t>(t.numel()) * t.element_size(); }

// Whether elements lie in one piece, in the same order in both.
bool lie_alike(const Tensor& a, const Tensor& b) {
  if (a.is_contiguous() && b.is_contiguous()) return true;
  if (!is_dense(a.sizes(), a.strides()) || !is_dense(b.sizes(), b.strides())) return false;
  for (size_t d = 0; d < a.sizes().size(); ++d)
    if (a.sizes()[d] != 1 && a.strides()[d] != b.strides()[d]) return false;
  return true;
}

void copy_with_kernel(int device, IntSpan shape, const kernel::StridedTarget& out,
                      const kernel::StridedSource& in) {
  const Dims order = order_by_stride(out.strides);
  if (out.dtype == in.dtype && transpose(device, shape, out, in, order)) return;
  LoopCall call;
  call.device = device;
  call.function = kIdentity;
  call.dtype = in.dtype;
  call.inputs = 1;
  call.in[0].memory = call.in[0].kernel = in.dtype;
  call.in[0].data = in.data;
  call.strides[0] = in.strides;
  call.out = out.data;
  call.out_memory = out.dtype;
  call.out_strides = out.strides;
  run_loop(call, shape, order);
}

void copy_on_device(const Tensor& out, const Tensor& in) {
  const int device = place_of(out);
  use(device);
  if (out.dtype() == in.dtype() && lie_alike(out, in)) {
    FB_CUDA(copy_on_device, address_of(out.data()), address_of(in.data()), bytes_of(out),
            current_stream(device));
    return;
  }
  copy_with_kernel(
      device, out.sizes(),
      {out.dtype(), static_cast<char*>(out.data()), byte_strides(out, out.sizes())},
      {in.dtype(), static_cast<const char*>(in.data()), byte_strides(in, out.sizes())});
}

// Also by another library, of which the driver knows.
bool is_page_locked_by_any(const void* address) {
  constexpr int kMemoryType = 2;
  unsigned type = 0;
  return is_pinned(address) ||
         driver().pointer_attribute(&type, kMemoryType, address_of(address)) == kSuccess;
}

// Of elements that lie in one piece on both sides.
void copy_up(const Tensor& out, const Tensor& in) {
  const int device = place_of(out);
  const Stream stream = current_stream(device);
  use(device);
  FB_CUDA(copy_to_device, address_of(out.data()), in.data(), bytes_of(out), stream);
  // The driver has read pageable memory when it returns; from page-locked memory it still reads.
  if (!is_page_locked_by_any(in.data())) return;
  if (non_blocking)
    hold_pinned(in.storage(), device, stream);
  else
    synchronize_stream(device, stream);
}

void copy_down(const Tensor& out, const Tensor& in) {
  const int device = place_of(in);
  const Stream stream = current_stream(device);
  use(device);
  FB_CUDA(copy_to_host, out.data(), address_of(in.data()), bytes_of(out), stream);
  if (non_blocking && is_pinned(out.data()))
    hold_pinned(out.storage(), device, stream);
  else
    synchronize_stream(device, stream);
}

void copy_between_devices(const Tensor& out, const Tensor& in) {
  const int from = place_of(in), to = place_of(out);
  Tensor whole = in;
  if (in.dtype() != out.dtype() || !in.is_contiguous()) {
    whole = make_tensor(in.sizes(), out.dtype(), in.device());
    copy_on_device(whole, in);
  }
  const Tensor target =
      out.is_contiguous() ? out : make_tensor(out.sizes(), out.dtype(), out.device());
  // The target's memory may still be in use by earlier work of its own stream.
  order_streams(to, current_stream(to), from, current_stream(from));
  use(from);
  FB_CUDA(copy_peer, address_of(target.data()), context_of(to), address_of(whole.data()),
          context_of(from), bytes_of(whole), current_stream(from));
  order_streams(from, current_stream(from), to, current_stream(to));
  if (!target.is_same(out)) copy_on_device(out, target);
}

}  // namespace

void copy(const Tensor& out, const Tensor& in) {
  if (out.numel() == 0) return;
  if (out.device() == in.device()) return copy_on_device(out, in);
  if (out.device() != kHost && in.device() != kHost) return copy_between_devices(out, in);
  if (out.dtype() == in.dtype() && lie_alike(out, in))
    return in.device() == kHost ? copy_up(out, in) : copy_down(out, in);
  const bool on_the_way_as_in = size_of(in.dtype()) <= size_of(out.dtype());
  const DType dtype = on_the_way_as_in ? in.dtype() : out.dtype();
  Tensor from = in, to = out;
  if (in.dtype() != dtype || !is_dense(in.sizes(), in.strides())) {
    from = make_tensor(in.sizes(), dtype, in.device());
    kernel::copy(from, in);
  }
  if (out.dtype() != dtype || !lie_alike(out, from)) to = make_like(from, dtype, out.device());
  in.device() == kHost ? copy_up(to, from) : copy_down(to, from);
  if (!to.is_same(out)) kernel::copy(out, to);
}

void to_host(const void* in, size_t bytes, void* out) {
  const int device = place_of(in);
  use(device);
  FB_CUDA(copy_to_host, out, address_of(in), bytes, current_stream(device));
  synchronize_stream(device, current_stream(device));
}

void copy_bytes_here(void* out, const void* in, size_t bytes) {
  if (bytes == 0) return;
  const int device = place_of(out);
  use(device);
  FB_CUDA(copy_on_device, address_of(out), address_of(in), bytes, current_stream(device));
}

void copy_strided(IntSpan shape, const kernel::StridedTarget& out,
                  const kernel::StridedSource& in) {
  copy_with_kernel(place_of(out.data), shape, out, in);
}

void fill(const Tensor& out, const Scalar& value) {
  if (out.numel() == 0) return;
  alignas(16) char element[16] = {};
  value.store(out.dtype(), element);
  const int device = place_of(out);
  const bool dense = is_dense(out.sizes(), out.strides());
  if (dense && std::all_of(element, element + out.element_size(), [](char b) { return b == 0; })) {
    use(device);
    FB_CUDA(set_bytes, address_of(out.data()), 0, bytes_of(out), current_stream(device));
    return;
  }
  LoopCall call;
  call.device = device;
  call.function = kIdentity;
  call.dtype = out.dtype();
  call.inputs = 1;
  call.in[0].kind = Kind::kNumber;
  call.in[0].memory = call.in[0].kernel = out.dtype();
  call.in[0].data = element;
  call.out = out.data();
  call.out_memory = out.dtype();
  if (dense) return run_contiguous(call, out.numel());
  call.out_strides = byte_strides(out, out.sizes());
  run_loop(call, out.sizes(), order_by_stride(call.out_strides));
}

void concatenate(const Tensor& out, TensorList tensors, int64_t dim) {
  int64_t offset = out.offset();
  for (const Tensor& t : tensors) {
    if (t.numel() == 0) continue;
    copy_on_device(inner_view(out, t.sizes(), out.strides(), offset), t);
    offset += t.size(dim) * out.stride(dim);
  }
}

void flip(const Tensor& out, const Tensor& in, IntSpan dims) {
  if (out.numel() == 0) return;
  Dims strides = byte_strides(in, in.sizes());
  const auto* data = static_cast<const char*>(in.data());
  for (const int64_t d : dims) {
    data += (in.sizes()[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  copy_with_kernel(place_of(out), out.sizes(),
                   {out.dtype(), static_cast<char*>(out.data()), byte_strides(out, out.sizes())},
                   {in.dtype(), data, strides});
}

}  // namespace fb::cuda
