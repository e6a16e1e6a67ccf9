// Kernels that are templates over an element type.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "core/dtype.h"
#include "cuda/driver.h"

namespace fb::cuda {

// FUNCTION<T, VARIANT>(ARGUMENTS) of a header in cuda/device, as a kernel for each type, variant
// and device that is asked for.
class TypedKernel {
 public:
  TypedKernel(const char* header, const char* function, const char* arguments)
      : header_(header), function_(function), arguments_(arguments) {}
  // `variant` is C++ and a constant: each text has a number of its own.
  Function on(int device, DType dtype, int number = 0, const char* variant = "");

 private:
  const char *header_, *function_, *arguments_;
  std::mutex mutex_;
  std::unordered_map<int, Function> found_;
};

// A type whose elements are as large: for kernels that move elements without looking at them.
DType of_size(size_t bytes);
inline DType of_size(DType dtype) { return of_size(size_of(dtype)); }

}  // namespace fb::cuda
