// Kernels that are templates over an element type.
#include "cuda/typed_kernel.h"

#include "cuda/loop.h"
#include "cuda/program.h"

namespace fb::cuda {

Function TypedKernel::on(int device, DType dtype, int number, const char* variant) {
  const std::lock_guard lock(mutex_);
  Function& function = found_[(number * kDTypeCount + static_cast<int>(dtype)) * 32 + device];
  if (!function) {
    const std::string source =
        message_of("#include \"cuda/device/", header_,
                   "\"\nnamespace fb::device {\nFB_KERNEL(kernel, ", arguments_, ") { ", function_,
                   "<", cpp_name(dtype), *variant ? ", " : "", variant, ">(args); }\n}\n");
    function = find_kernel(device, source, "kernel");
  }
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
