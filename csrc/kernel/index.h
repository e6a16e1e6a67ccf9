// Elements picked by position: gather, scatter, masks.
#pragma once

#include <vector>

#include "core/tensor.h"
#include "kernel/slot.h"

namespace fb::kernel {

// Positions picked out of `target`: of the dimensions before.. before+positions.size()-1, element k
// of the result has the coordinates positions[0][k], positions[1][k], ... Negative positions count
// from the end, or are refused.
struct Picks {
  Tensor target;
  int64_t before = 0;
  std::vector<Tensor> positions;  // int64, contiguous, all of the shape `shape`
  Dims shape;
  bool from_the_end = true;

  int64_t count() const { return numel_of(shape); }
  // Dimensions before the picked ones, then `shape`, then those after.
  Dims result_shape() const;
};

enum class ScatterMode { kStore, kAdd, kMultiply, kMin, kMax };

struct Index {
  // out = target[picks]; `out` is contiguous and of the result's shape. IndexError if a position is
  // out of bounds.
  Slot<void(const Tensor& out, const Picks& picks)> pick;
  // target[picks] = values, or += with accumulate; `values` has the result's shape. If a position
  // is picked twice, the last value stays. Nothing is written if a position is out of bounds.
  Slot<void(const Picks& picks, const Tensor& values, bool accumulate)> index_put;

  // out[i][j] = input[index[i][j]][j] (for dim 0; likewise for others). `index` is contiguous
  // int64; `out` is contiguous and of its shape.
  Slot<void(const Tensor& out, const Tensor& input, int64_t dim, const Tensor& index)> gather;
  // target[index[i][j]][j] = source[i][j], or combined with the old element; `source` has the shape
  // of `index`.
  Slot<void(const Tensor& target, int64_t dim, const Tensor& index, const Tensor& source,
            ScatterMode mode)>
      scatter;
  // Means from sums: divides where more than one element was added. Both contiguous; `counts` is
  // int64.
  Slot<void(const Tensor& sums, const Tensor& counts)> divide_by_counts;

  // The sum of counts that are not negative; raises if it exceeds 63 bits.
  Slot<int64_t(const int64_t* counts, int64_t n)> total_count;
  // Each position i counts[i] times, in increasing order: total_count of them.
  Slot<void(const int64_t* counts, int64_t n, int64_t* out)> repeat_positions;

  // Positions of the true elements of a contiguous mask: a tensor [dims, count], in row-major
  // order.
  Slot<Tensor(const Tensor& mask)> nonzero_columns;
  // The elements of `input` where `mask` is true; both contiguous, of equal shape.
  Slot<Tensor(const Tensor& input, const Tensor& mask)> compress;
  // out = mask ? value : input; all contiguous, of equal shape. `value` points to one element in
  // the host's memory.
  Slot<void(const Tensor& out, const Tensor& input, const Tensor& mask, const void* value)>
      masked_fill;
};

}  // namespace fb::kernel
