// Storages as Python sees them: a storage is shown as the tensor of all its bytes.
#include "autograd/sparse.h"
#include "bind/interop.h"
#include "core/dims.h"
#include "ops/layout.h"

namespace fb::bind {

Tensor storage_bytes(const Tensor& tensor) {
  check_dense("untyped_storage", tensor);
  ops::settle(tensor);
  const auto bytes = static_cast<int64_t>(tensor.storage()->bytes);
  return tensor_over(tensor.storage(), {bytes}, {1}, 0, DType::kUInt8, tensor.device());
}

Tensor tensor_on_storage(const Tensor& bytes, DType dtype, int64_t offset, IntSpan sizes,
                         IntSpan strides) {
  FB_CHECK(sizes.size() == strides.size(), "sizes ", sizes, " and strides ", strides,
           " differ in length");
  numel_of(sizes);  // refuses negative sizes
  FB_CHECK(offset >= 0, "expected a non-negative offset, got ", offset);
  int64_t last = offset;
  bool is_empty = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    FB_CHECK(strides[i] >= 0, "expected non-negative strides, got ", strides);
    is_empty |= sizes[i] == 0;
    if (sizes[i] == 0) continue;
    int64_t reach = 0;
    const bool overflows = __builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) ||
                           __builtin_add_overflow(last, reach, &last);
    FB_CHECK(!overflows, "sizes ", sizes, " with strides ", strides, " reach beyond 2^63");
  }
  const auto room = static_cast<int64_t>(bytes.storage()->bytes / size_of(dtype));
  FB_CHECK(is_empty || last < room, "sizes ", sizes, ", strides ", strides, " and offset ", offset,
           " reach beyond the storage of ", bytes.storage()->bytes, " bytes");
  return tensor_over(bytes.storage(), sizes, strides, offset, dtype, bytes.device());
}

}  // namespace fb::bind
