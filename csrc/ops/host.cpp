// Elements that the host reads.
#include "ops/host.h"

#include <algorithm>

#include "core/error.h"
#include "kernel/table.h"
#include "ops/output.h"

namespace fb::ops {

const void* host_element(const Tensor& t, RoomForElement& room) {
  FB_ASSERT(t.numel() == 1);
  if (t.device() == kHost) [[likely]]
    return t.data();
  kernel::of(t).to_host(t.data(), t.element_size(), room);
  return room;
}

Scalar host_number(const Tensor& t) {
  alignas(16) RoomForElement room;
  return Scalar::load(t.dtype(), host_element(t, room));
}

std::vector<int64_t> host_integers(const Tensor& t) {
  const Tensor whole = contiguous(cast(t, DType::kInt64));
  std::vector<int64_t> result(static_cast<size_t>(whole.numel()));
  if (!result.empty())
    kernel::of(whole).to_host(whole.data(), result.size() * sizeof(int64_t), result.data());
  return result;
}

std::optional<int64_t> first_outside(const Tensor& t, int64_t least, int64_t greatest) {
  const int64_t at = kernel::of(t).find_outside(t.data_as<int64_t>(), t.numel(), least, greatest);
  if (at == t.numel()) return std::nullopt;
  return host_number(as_view(t, {}, {}, t.offset() + at)).to<int64_t>();
}

Tensor device_integers(IntSpan values, Device device) {
  const Tensor whole = make_tensor({static_cast<int64_t>(values.size())}, DType::kInt64, kHost);
  std::copy(values.begin(), values.end(), whole.data_as<int64_t>());
  return on_device(whole, device);
}

Tensor on_host(const Tensor& t, DType dtype) {
  return on_device(contiguous(cast(t, dtype)), kHost);
}

Tensor on_device(const Tensor& t, Device device) {
  if (t.device() == device) return t;
  Tensor out = make_like(t, t.dtype(), device);
  kernel::copy(out, t);
  return out;
}

}  // namespace fb::ops
