// Kernels that are templates over an element type.
#pragma once

#include <atomic>
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
  using Found = std::unordered_map<int, Function>;
  static constexpr unsigned kRecent = 16;
  // The types that a program uses lie in neighbouring places.
  static unsigned place_of_key(int key) {
    const auto bits = static_cast<unsigned>(key);
    return (bits / 32 + bits) % kRecent;
  }
  Function find(int key, int device, DType dtype, const char* variant);

  const char *header_, *function_, *arguments_;
  std::mutex mutex_;
  Found found_;
  // Those that were used last, read without the lock: entries stay where they are.
  std::atomic<const Found::value_type*> recent_[kRecent] = {};
};

// A type whose elements are as large: for kernels that move elements without looking at them.
DType of_size(size_t bytes);
inline DType of_size(DType dtype) { return of_size(size_of(dtype)); }

}  // namespace fb::cuda
