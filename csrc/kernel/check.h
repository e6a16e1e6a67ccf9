// Checks of elements that operators make before they compute, with answers for the host.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

// Which numbers are allowed. The bounds are rounded to the element type, as in a comparison of a
// tensor with a number.
struct ValueRange {
  double low, high;
  bool above = false;  // `low` itself is excluded
  bool below = false;  // `high` itself is excluded
  bool whole = false;  // integers only
};

// All arrays are contiguous.
struct Check {
  // For a real type; NaN is outside of every range.
  Slot<bool(DType dtype, const void* in, int64_t n, const ValueRange& range)> all_within;
  // For float32, float64 or complex.
  Slot<bool(DType dtype, const void* in, int64_t n)> all_finite;
  // For any type; false is a zero.
  Slot<bool(DType dtype, const void* in, int64_t n)> has_zero;
  // The position of the first number that is not in [least, greatest]; n if all are.
  Slot<int64_t(const int64_t* in, int64_t n, int64_t least, int64_t greatest)> find_outside;
  // Whether each number is larger than the one before.
  Slot<bool(const int64_t* in, int64_t n)> all_rising;
};

}  // namespace fb::kernel
