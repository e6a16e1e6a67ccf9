// Numbers split into a mantissa and a power of two.
#include <cmath>

#include "cpu/pointwise.h"

namespace fb::cpu {

void frexp(DType dtype, int64_t n, const void* in, void* mantissa, int32_t* exponent) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const from = static_cast<const T*>(in);
    T* const part = static_cast<T*>(mantissa);
    for (int64_t i = 0; i < n; ++i) {
      part[i] = std::frexp(from[i], &exponent[i]);
      if (!std::isfinite(from[i])) exponent[i] = 0;  // unspecified by the C library
    }
  });
}

}  // namespace fb::cpu
