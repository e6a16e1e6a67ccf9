// Sorting and selection along the rows of a contiguous array.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

// Every row is shorter than this: positions are stored with the keys in 32 bits.
inline constexpr int64_t kMaxSortLength = int64_t{1} << 32;

// rows x n elements of a real type, contiguous.
struct SortRows {
  DType dtype;
  const void* in;
  int64_t rows;
  int64_t n;
};

struct Sort {
  // The first k elements of each row in sorted order (k = n sorts it) and their positions; either
  // result may be null. Stable; NaN counts as the largest value, -0 equals 0.
  Slot<void(const SortRows& input, int64_t k, bool descending, void* values, int64_t* indices)>
      sort_rows;
  // The element with ranks[row] smaller ones in each row, and its position.
  Slot<void(const SortRows& input, const int64_t* ranks, void* values, int64_t* indices)>
      select_rows;
  // The most frequent value of each row, the smallest of several, and its last position. `sorted`
  // and `positions` come from sort_rows.
  Slot<void(const SortRows& sorted, const int64_t* positions, void* values, int64_t* indices)>
      mode_rows;
  // Turns the number of NaNs in each row of n into the rank of its median, in place. With NaNs it
  // is the rank of the first of them, unless they are ignored and there are numbers.
  Slot<void(int64_t* ranks, int64_t rows, int64_t n, bool ignore_nan)> median_ranks;
};

}  // namespace fb::kernel
