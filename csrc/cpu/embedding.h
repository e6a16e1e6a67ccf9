// Rows of a table picked by number: sums of them, and gradients summed back into the table.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "cpu/isa.h"

namespace fb::cpu {

// Rows of `width` elements; those of `table` are `stride` elements apart.
struct Table {
  DType dtype;
  const void* data;
  int64_t rows, width, stride;
};

// out[i] = table[index[i]]
FB_DECLARE_KERNEL(void, take_rows, const Table& table, const int64_t* index, int64_t n, void* out)

// Bag b holds the numbers from bounds[b] to bounds[b + 1]; a number below 0 is left out. All
// factors, and `out` of the sums, are of the type computed with: double for float64, else float.
struct Bags {
  const int64_t* index;
  const int64_t* bounds;
  int64_t count;
};

// out[b] = the sum of factor[i] * table[index[i]] over a bag; every factor is 1 if they are null.
FB_DECLARE_KERNEL(void, sum_bags, const Table& table, const Bags& bags, const void* factor,
                  void* out)
// The largest element of each column, and the row of the table that it is in, -1 of an empty bag,
// whose elements are 0.
FB_DECLARE_KERNEL(void, max_bags, const Table& table, const Bags& bags, void* out, int64_t* rows)

// out[target[i]] += factor[i] * from[source[i]], where a target below 0 is left out and the source
// is i if they are null. Columns and rows of `out` are shared out between threads, so that each sum
// is taken in the order of i whatever their number.
struct RowSums {
  const int64_t* target;
  const int64_t* source;
  const void* factor;
  int64_t n;
};
FB_DECLARE_KERNEL(void, add_rows, const Table& from, const RowSums& sums, void* out,
                  int64_t out_rows)

}  // namespace fb::cpu
