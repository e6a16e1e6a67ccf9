// Distances between all pairs of rows of two matrices.
#pragma once

#include "cpu/isa.h"
#include "kernel/distance.h"

namespace fb::cpu {

FB_DECLARE_SLOT(kernel::Distance, pairwise_distances)

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
