// Sorting and selection along the rows of a contiguous array.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "cpu/isa.h"

namespace fb::cpu {

// Every row is at most this long: positions travel with the keys in 32 bits.
inline constexpr int64_t kMaxSortLength = int64_t{1} << 32;

// rows x n elements of a real type, contiguous.
struct SortRows {
  DType dtype;
  const void* in;
  int64_t rows;
  int64_t n;
};

// The first k elements of each row in sorted order (k = n sorts it) and their positions; either
// result may be null. Stable; NaN counts as the largest value, -0 equals 0.
FB_DECLARE_KERNEL(void, sort_rows, const SortRows& input, int64_t k, bool descending, void* values,
                  int64_t* indices)
// The element with ranks[row] smaller ones in each row, and its position.
FB_DECLARE_KERNEL(void, select_rows, const SortRows& input, const int64_t* ranks, void* values,
                  int64_t* indices)

// The most frequent value of each row and the position where it stands last; of several, the
// smallest. `sorted` and `positions` come from sort_rows.
void mode_rows(const SortRows& sorted, const int64_t* positions, void* values, int64_t* indices);

}  // namespace fb::cpu
