// A stable radix sort of rows.
#pragma once

#include "core/dtype.h"
#include "cuda/device/radix_args.h"
#include "cuda/driver.h"

namespace fb::cuda {

// The `kept` first elements of each row in sorted order: stable, NaN largest, -0 equal to 0. Any of
// the results may be null: values, positions in the row as `indices`, and the same as `order` in 32
// bits. With `names`, an array like `keys`, indices are those instead. Only the lowest `bits` of
// keys differ.
struct RadixSort {
  DType dtype;
  const void* keys;
  int64_t rows, n;
  int64_t kept;
  bool descending = false;
  void* values = nullptr;
  long long* indices = nullptr;
  const long long* names = nullptr;
  unsigned* order = nullptr;
  int bits = 64;
};
void radix_sort(int device, const RadixSort& sort);

// Numbers in [0, bound) in order, and their positions; either result may be null.
void sort_numbers(int device, const int64_t* numbers, int64_t n, int64_t bound, int64_t* sorted,
                  int64_t* positions);
// How many bits such numbers have.
int bits_below(int64_t bound);

}  // namespace fb::cuda
