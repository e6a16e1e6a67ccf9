// Distances between all pairs of rows of two matrices.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "cpu/isa.h"

namespace fb::cpu {

// out[i, r, c] is the p-norm of a[i, r, :] - b[i, c, :]; all contiguous, float32 or float64. p = 0
// counts the elements that differ, infinity takes the largest difference.
void pairwise_distances(DType dtype, int64_t batch, int64_t rows, int64_t columns, int64_t depth,
                        const void* a, const void* b, double p, void* out);

// The distances of one row of a.
template <class T>
struct RowDistances {
  int64_t columns, depth;
  const T* a;
  const T* b;
  double p;
  T* out;
};
FB_DECLARE_KERNEL(template <class T> void, row_distances, const RowDistances<T>&)

}  // namespace fb::cpu
