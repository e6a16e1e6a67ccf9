// Groups of equal slices.
#pragma once

#include <cstdint>
#include <vector>

#include "core/dtype.h"

namespace fb::cpu {

// n slices of `width` elements of a real type, one behind the other.
struct Slices {
  DType dtype;
  const void* data;
  int64_t n;
  int64_t width;
};

// The order that sorts the slices lexicographically; stable, NaN counts as largest.
std::vector<int64_t> sorted_order(const Slices& slices);

// Walks the slices in `order` (as they are where it is null) and starts a group wherever one
// differs from the one before (NaN differs from itself). Writes each slice's group to `inverse`;
// returns the first slice of each group in that order, and how many there are of each in `counts`.
std::vector<int64_t> group_equal(const Slices& slices, const int64_t* order, int64_t* inverse,
                                 std::vector<int64_t>& counts);

}  // namespace fb::cpu
