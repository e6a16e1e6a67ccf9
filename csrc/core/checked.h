// Sums and products of sizes from users: refused if they do not fit into 63 bits.
#pragma once

#include "core/dims.h"

namespace fb {

inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  FB_CHECK(!__builtin_add_overflow(a, b, &sum), "size calculation overflowed: ", a, " + ", b,
           " is beyond 2^63");
  return sum;
}

inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t product = 0;
  FB_CHECK(!__builtin_mul_overflow(a, b, &product), "size calculation overflowed: ", a, " * ", b,
           " is beyond 2^63");
  return product;
}

// Bytes of a storage that holds contiguous elements of `sizes` from `offset` on.
inline size_t bytes_to_hold(IntSpan sizes, int64_t offset, size_t element_size) {
  const int64_t count = checked_add(numel_of(sizes), offset);
  return static_cast<size_t>(checked_mul(count, static_cast<int64_t>(element_size)));
}

}  // namespace fb
