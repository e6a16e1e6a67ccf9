// Products by a register-tiled kernel that reads its matrices front to back from packed panels, or
// in place where packing does not pay. For float and double, on the calling thread.
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
  bool wide = false;  // in wide panels
};

// The kernel reads a panel front to back. One or two rows of A need wide panels, as they have too
// few sums in the usual ones: each would wait for the last addition to it.
inline constexpr int64_t kWideColumns = 128;  // whole wide panels of every instruction set
inline bool needs_wide_panels(int64_t m) { return m <= 2; }

// Elements that a packed k x n matrix takes, whatever the instruction set.
inline int64_t packed_elements(int64_t k, int64_t n) { return k * ((n + 15) / 16 * 16); }

// Packs the right matrix of a product.
FB_DECLARE_KERNEL(template <class T> void, pack_matrix, const PackSource<T>&, T* packed)

// Elements that a packed left matrix of m rows takes: one more row if their number is odd, and room
// for whole vectors to be written at the end.
inline int64_t packed_rows_elements(int64_t m, int64_t k) { return (m + 1) / 2 * 2 * k + 16; }

// Packs the left matrix of a product, for float; `n` is the number of its rows, and it is
// `transposed` if its rows are stored as rows.
FB_DECLARE_KERNEL(template <class T> void, pack_rows, const PackSource<T>&, T* packed)

// C = A B, or C += A B, with A m x k, B k x n, C m x n. A and B are packed, or read where they lie:
// A by rows or, if m is even, by columns that are a_row apart; B by rows that are b_row apart, if n
// is a multiple of kWholeColumns. Without `accumulate`, every row of C begins as `bias`, if that is
// not null. Each element is start + the sum in the order of k, whichever rows and columns are
// computed with it.
template <class T>
struct PackedProduct {
  int64_t m, n, k;
  const T* a;
  int64_t a_row;  // 0: packed
  const T* b;
  T* c;
  int64_t c_row;
  bool accumulate;
  const T* bias = nullptr;
  int64_t b_row = 0;  // 0: packed
  bool a_by_columns = false;
  bool b_is_wide = false;  // packed in wide panels
};
inline constexpr int64_t kWholeColumns = 16;

FB_DECLARE_KERNEL(template <class T> void, packed_product, const PackedProduct<T>&)

// C = start + A W^T with W n x k stored by rows, w_row apart, and nothing packed: for few rows of
// A, where reading W once is all the work. `start` is C itself if `accumulate`, else the vector
// `bias`, or zeros where that is null.
template <class T>
struct DotProducts {
  int64_t m, n, k;
  const T* a;
  int64_t a_row;
  const T* w;
  int64_t w_row;
  T* c;
  int64_t c_row;
  const T* bias;
  bool accumulate;
};

FB_DECLARE_KERNEL(template <class T> void, dot_products, const DotProducts<T>&)

}  // namespace fb::cpu
