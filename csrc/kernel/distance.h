// Distances between the rows of arrays.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

// Contiguous (rows, columns) of float32 or float64; `eps` is added to every difference.
struct PairCall {
  DType dtype;
  int64_t rows, columns;
  const void* first;
  const void* second;
  double eps;
};

struct Distance {
  // Euclidean distances between the rows of two arrays, one of each.
  Slot<void(const PairCall& call, void* out)> pair_distances;
  // The gradient of the first array, from distances and their gradients; 0 at distance 0.
  Slot<void(const PairCall& call, const void* gradients, const void* distances, void* out)>
      pair_gradient;
  // Between all pairs of rows: out[i, r, c] is the p-norm of a[i, r, :] - b[i, c, :]; all
  // contiguous, float32 or float64. p = 0 counts the elements that differ, infinity takes the
  // largest difference.
  Slot<void(DType dtype, int64_t batch, int64_t rows, int64_t columns, int64_t depth, const void* a,
            const void* b, double p, void* out)>
      pairwise_distances;
};

}  // namespace fb::kernel
