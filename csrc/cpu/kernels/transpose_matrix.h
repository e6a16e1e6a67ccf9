// The transpose of a matrix, out of place.
#pragma once

#include <cstdint>

#include "cpu/isa.h"

namespace fb::cpu {

// to[j, i] = from[i, j] for `rows` x `columns` elements of `from`; rows are `ld` elements apart.
template <class T>
struct TransposeCall {
  int64_t rows, columns;
  const T* from;
  int64_t from_ld;
  T* to;
  int64_t to_ld;
};

// For float and double.
FB_DECLARE_KERNEL(template <class T> void, transpose_matrix, const TransposeCall<T>&)

}  // namespace fb::cpu
