// Kernels that are templates over an element type.
#include "cuda/typed_kernel.h"

#include "cuda/context.h"
#include "cuda/loop.h"
#include "cuda/nvrtc.h"
#include "cuda/program.h"

namespace fb::cuda {

Function TypedKernel::on(int device, DType dtype, int number, const char* variant) {
  static_assert(kMaxDevices == 32);
  const int key = (number * kDTypeCount + static_cast<int>(dtype)) * kMaxDevices + device;
  const auto* const recent = recent_[place_of_key(key)].load(std::memory_order_acquire);
  if (recent && recent->first == key) [[likely]]
    return recent->second;
  return find(key, device, dtype, variant);
}

Function TypedKernel::find(int key, int device, DType dtype, const char* variant) {
  compiler();  // takes Python's lock when it opens: before ours
  const std::lock_guard lock(mutex_);
  const auto at = found_.try_emplace(key).first;
  Function& function = at->second;
  if (!function) {
    const std::string source =
        message_of("#include \"cuda/device/", header_,
                   "\"\nnamespace fb::device {\nFB_KERNEL(kernel, ", arguments_, ") { ", function_,
                   "<", cpp_name(dtype), *variant ? ", " : "", variant, ">(args); }\n}\n");
    function = find_kernel(device, source, "kernel");
  }
  recent_[place_of_key(key)].store(&*at, std::memory_order_release);
  return function;
}

DType of_size(size_t bytes) {
  switch (bytes) {
    case 1: return DType::kUInt8;
    case 2: return DType::kInt16;
    case 4: return DType::kInt32;
    case 8: return DType::kInt64;
    default: return DType::kComplex128;
  }
}

}  // namespace fb::cuda
