// Rows of a table picked by number: sums of them, and gradients summed back into the table.
#pragma once

#include <cstdint>

#include "core/tensor.h"
#include "kernel/slot.h"

namespace fb::kernel {

// Rows of `width` elements; those of `table` are `stride` elements apart.
struct RowTable {
  DType dtype;
  const void* data;
  int64_t rows, width, stride;
};

// Bag b holds the numbers from bounds[b] to bounds[b + 1]; a number below 0 is left out. All
// factors, and `out` of the sums, are of the type computed with: double for float64, else float.
struct Bags {
  const int64_t* index;
  const int64_t* bounds;
  int64_t count;
};

// Properties of the offsets of bags to check; `first` and `last` are 0 if there are none.
struct BagOffsets {
  int64_t first = 0, last = 0;
  bool ascending = true;  // the bounds do not decrease
};

// out[target[i]] += factor[i] * from[source[i]], where a target below 0 is left out and the source
// is i if they are null. Columns and rows of `out` are divided among threads, so that each sum is
// taken in the order of i whatever their number.
struct RowSums {
  const int64_t* target;
  const int64_t* source;
  const void* factor;
  int64_t n;
};

struct Embedding {
  // out[i] = table[index[i]]
  Slot<void(const RowTable& table, const int64_t* index, int64_t n, void* out)> take_rows;
  Slot<void(const RowTable& from, const RowSums& sums, void* out, int64_t out_rows)> add_rows;
  // out[b] = the sum of factor[i] * table[index[i]] over a bag; every factor is 1 if they are null.
  Slot<void(const RowTable& table, const Bags& bags, const void* factor, void* out)> sum_bags;
  // The largest element of each column, and the row of the table that it is in, -1 of an empty bag,
  // whose elements are 0.
  Slot<void(const RowTable& table, const Bags& bags, void* out, int64_t* rows)> max_bags;
  // The gradient of the table, which the caller has cleared: each of n elements, in rows of
  // `width`, is added to its column of the row that max_bags has found.
  Slot<void(DType dtype, const void* gradient, const int64_t* rows, int64_t n, int64_t width,
            void* out)>
      add_maxima;

  // The `given` offsets as bounds of `count` bags, the last of which ends with the `indices`.
  Slot<BagOffsets(const int64_t* offsets, int64_t given, int64_t count, int64_t indices,
                  int64_t* bounds)>
      bag_bounds;
  // The bag of each index, and how many numbers each bag holds.
  Slot<void(const Bags& bags, int64_t* of_index, int64_t* sizes)> number_bags;
  // out[i] = 1 / the size of the bag of index i; that of an empty one counts as 1.
  Slot<void(DType dtype, const int64_t* bags, const int64_t* sizes, int64_t n, void* out)>
      reciprocal_sizes;
  // out[i] = 1 / how often numbers[i], which is in [0, rows), occurs among the n numbers.
  Slot<void(DType dtype, const int64_t* numbers, int64_t n, int64_t rows, void* out)>
      reciprocal_counts;
  // Replaces every `number` by another one.
  Slot<void(int64_t* numbers, int64_t n, int64_t number, int64_t other)> replace_number;

  // Scales down rows of a table whose p-norm is above max_norm. `numbers` are contiguous int64 and
  // get reordered; each row is scaled once, however often it is named.
  Slot<void(const Tensor& table, const Tensor& numbers, double max_norm, double p)> limit_norms;
};

}  // namespace fb::kernel
