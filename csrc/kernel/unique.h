// Groups of equal slices.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

// n contiguous slices of `width` elements of a real type.
struct Slices {
  DType dtype;
  const void* data;
  int64_t n;
  int64_t width;
};

struct Unique {
  // The order that sorts the slices lexicographically; stable, NaN counts as largest.
  Slot<void(const Slices& slices, int64_t* order)> sorted_order;
  // Walks the slices in `order` (as they are if it is null) and starts a group wherever one differs
  // from the one before (NaN differs from itself). Writes each slice's group to `inverse`, the
  // first slice of each group in that order to `firsts` and the sizes of the groups to `counts`,
  // both with room for n; returns the number of groups.
  Slot<int64_t(const Slices& slices, const int64_t* order, int64_t* inverse, int64_t* firsts,
               int64_t* counts)>
      group_equal;
  // The first element of each run of equal ones, to `out` with room for n; returns how many. Slices
  // have one element; NaN differs from itself.
  Slot<int64_t(const Slices& slices, void* out)> distinct;
};

}  // namespace fb::kernel
