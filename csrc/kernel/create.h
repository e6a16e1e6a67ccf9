// Sequences of numbers.
#pragma once

#include "core/tensor.h"
#include "kernel/slot.h"

namespace fb::kernel {

// The elements of a matrix below or above a diagonal: in each row from `first_row` up to `last_row`
// those with c - r <= diagonal (lower) or c - r >= diagonal (upper), out of `columns` columns. No
// row is without an element.
struct Triangle {
  int64_t first_row, last_row;
  int64_t columns;
  int64_t diagonal;
  bool lower;
};

struct Create {
  // out[i] = start + i * step. `out` is contiguous and of a real type.
  Slot<void(const Tensor& out, const Scalar& start, const Scalar& step)> arange;
  // Evenly spaced from start to end, both exact.
  Slot<void(const Tensor& out, const Scalar& start, const Scalar& end)> linspace;
  // base to the power of linspace's values.
  Slot<void(const Tensor& out, const Scalar& start, const Scalar& end, double base)> logspace;
  // Row and column numbers of the elements of a triangle, in row-major order.
  Slot<void(const Triangle& triangle, int64_t* rows, int64_t* columns)> triangle_indices;
};

}  // namespace fb::kernel
