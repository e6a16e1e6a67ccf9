// Products with a matrix that is used many times: it is packed once into panels that a
// register-tiled kernel reads front to back. For float and double, on the calling thread.
#pragma once

#include <cstdint>

#include "cpu/isa.h"

namespace fb::cpu {

// A k x n matrix, stored by rows `ld` apart, or the transpose of such a matrix.
template <class T>
struct PackSource {
  int64_t k, n;
  const T* data;
  int64_t ld;
  bool transposed;
};

// Elements that a packed k x n matrix takes, whatever the instruction set.
inline int64_t packed_elements(int64_t k, int64_t n) { return k * ((n + 15) / 16 * 16); }

FB_DECLARE_KERNEL(template <class T> void, pack_matrix, const PackSource<T>&, T* packed)

// C = A B, or C += A B, with A m x k, B packed, C m x n; rows of A and C are stored apart by a_row
// and c_row. Without `accumulate`, every row of C begins as `bias`, if that is not null. Each
// element is summed in the order of k, whichever rows are computed with it.
template <class T>
struct PackedProduct {
  int64_t m, n, k;
  const T* a;
  int64_t a_row;
  const T* b;
  T* c;
  int64_t c_row;
  bool accumulate;
  const T* bias = nullptr;
};

FB_DECLARE_KERNEL(template <class T> void, packed_product, const PackedProduct<T>&)

// C = start + A W^T with W n x k stored by rows, and nothing packed: for few rows of A, where
// reading W once is all the work. `start` is C itself if `accumulate`, else the vector `bias`, or
// zeros where that is null.
template <class T>
struct DotProducts {
  int64_t m, n, k;
  const T* a;
  int64_t a_row;
  const T* w;
  T* c;
  int64_t c_row;
  const T* bias;
  bool accumulate;
};

FB_DECLARE_KERNEL(template <class T> void, dot_products, const DotProducts<T>&)

}  // namespace fb::cpu
