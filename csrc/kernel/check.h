// What operators ask of elements before they go on: answers that the host needs.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

// Which numbers are allowed. The bounds are rounded to the element type, as in a comparison of a
// tensor with a number.
struct ValueRange {
  double low, high;
  bool above = false;  // `low` itself is not
  bool below = false;  // `high` itself is not
  bool whole = false;  // integers alone
};

// All arrays are contiguous.
struct Check {
  // Of a real type; NaN is outside of every range.
  Slot<bool(DType dtype, const void* in, int64_t n, const ValueRange& range)> all_within;
  // Of float32, float64 or complex.
  Slot<bool(DType dtype, const void* in, int64_t n)> all_finite;
  // Of any type; a bool that is false is a zero.
  Slot<bool(DType dtype, const void* in, int64_t n)> has_zero;
  // The position of the first number that is not in [least, greatest]; n if all are.
  Slot<int64_t(const int64_t* in, int64_t n, int64_t least, int64_t greatest)> find_outside;
  // Whether each number is larger than the one before.
  Slot<bool(const int64_t* in, int64_t n)> all_rising;
};

}  // namespace fb::kernel
