// Matrix kernels compiled per instruction set: register-tiled products, matrix times vector, dot
// product.
#pragma once

#include <cstdint>

#include "cpu/isa.h"
#include "scalar/types.h"

namespace fb::cpu {

// C = start + A B for a block that fits the caches. A is m x k with any two strides, B is k x n
// with unit column stride, C is m x n with unit column stride. `start` is what row i of C begins
// from, at start + i * start_stride: null for zeros, C itself to accumulate, a vector with stride 0
// for a bias.
template <class T>
struct GemmBlock {
  int64_t m, n, k;
  const T* a;
  int64_t a_row, a_col;
  const T* b;
  int64_t b_row;
  T* c;
  int64_t c_row;
  const T* start;
  int64_t start_stride;
};

// y = start + A x where A has `rows` rows of `cols` elements, `stride` apart. One sum per row.
template <class T>
struct GemvCall {
  int64_t rows, cols, stride;
  const T* a;
  const T* x;
  const T* start;  // null for zeros
  T* y;
};

// For int8, 16, 32 and 64 (they wrap around, so a signed type serves its unsigned twin), float,
// double and complex.
FB_DECLARE_KERNEL(template <class T> void, gemm_block, const GemmBlock<T>&)

// For float and double.
FB_DECLARE_KERNEL(template <class T> void, gemv_rows, const GemvCall<T>&)
// y = start + A^T x with the same storage: x has `rows` elements, y has `cols`.
FB_DECLARE_KERNEL(template <class T> void, gemv_columns, const GemvCall<T>&)

}  // namespace fb::cpu
