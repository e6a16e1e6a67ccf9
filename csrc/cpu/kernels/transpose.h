// Transposes small matrices tile by tile in registers, and reverses vectors.
#pragma once

#include <utility>

#include "cpu/kernels/simd.h"

namespace fb::cpu::FB_ISA {
namespace detail {

// Interleaves a and b element by element within each stretch of `width`: their first halves, or
// their last ones.
template <int half, size_t width, class V, size_t... I>
FB_FN V interleave(const V& a, const V& b, std::index_sequence<I...>) {
  constexpr size_t n = sizeof...(I);
  return FB_SHUFFLE(a, b, (I % 2 * n + I / width * width + I % width / 2 + half * width / 2)...);
}

template <class V, size_t... I>
FB_FN V backwards(const V& v, std::index_sequence<I...>) {
  return FB_SHUFFLE(v, v, (sizeof...(I) - 1 - I)...);
}

}  // namespace detail

// Square tiles of L rows, side by side in the registers. Interleaving the first half of the rows
// with the last rotates the bits of (row, lane) by one position; after log2(L) rounds row and lane
// are exchanged.
template <class V, int L>
FB_FN void transpose_lanes(V (&rows)[L]) {
  using Lanes = std::make_index_sequence<sizeof(V) / sizeof(rows[0][0])>;
#pragma GCC unroll 4
  for (int round = 1; round < L; round *= 2) {
    V next[L];
#pragma GCC unroll 8
    for (int i = 0; i < L / 2; ++i) {
      next[2 * i] = detail::interleave<0, L>(rows[i], rows[i + L / 2], Lanes{});
      next[2 * i + 1] = detail::interleave<1, L>(rows[i], rows[i + L / 2], Lanes{});
    }
#pragma GCC unroll 16
    for (int i = 0; i < L; ++i) rows[i] = next[i];
  }
}

template <class T>
FB_FN void transpose_tile(const T* from, int64_t from_row, T* to, int64_t to_row) {
  constexpr int L = kLanes<T>;
  Vec<T> rows[L];
  for (int i = 0; i < L; ++i) rows[i] = load<T, L>(from + i * from_row);
  transpose_lanes(rows);
  for (int i = 0; i < L; ++i) store(to + i * to_row, rows[i]);
}

// to[j][i] = from[i][j] for i < rows and j < columns.
template <class T>
void transpose(const T* from, int64_t from_row, int64_t rows, int64_t columns, T* to,
               int64_t to_row) {
  constexpr int64_t L = kLanes<T>;
  int64_t i = 0;
  for (; i + L <= rows; i += L) {
    int64_t j = 0;
    for (; j + L <= columns; j += L)
      transpose_tile(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
    for (; j < columns; ++j)
      for (int64_t l = i; l < i + L; ++l) to[j * to_row + l] = from[l * from_row + j];
  }
  for (; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) to[j * to_row + i] = from[i * from_row + j];
}

}  // namespace fb::cpu::FB_ISA
