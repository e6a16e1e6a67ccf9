// Euclidean distances between the rows of two arrays, one of each.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "cpu/isa.h"

namespace fb::cpu {

// Contiguous (rows, columns) of float32 or float64; `eps` is added to every difference.
struct PairCall {
  DType dtype;
  int64_t rows, columns;
  const void* first;
  const void* second;
  double eps;
};

FB_DECLARE_KERNEL(void, pair_distances, const PairCall& call, void* out)
// The gradient by the first, from those of the distances and the distances; 0 where that is 0.
FB_DECLARE_KERNEL(void, pair_gradient, const PairCall& call, const void* gradients,
                  const void* distances, void* out)

}  // namespace fb::cpu
