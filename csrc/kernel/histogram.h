// Counting elements by value and by interval.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

struct HistogramArgs {
  DType dtype;  // float32 or float64, for all arrays
  const void* in;
  int64_t n;
  const void* weights;  // null: each element counts 1
  const void* edges;    // bins + 1 in increasing order
  int64_t bins;
  bool uniform;  // edges are evenly spaced: the bin is computed and checked, not searched
};

struct Histogram {
  // counts[v] = how many of n values are v; all are in [0, bins).
  Slot<void(const int64_t* values, int64_t n, int64_t* counts, int64_t bins)> count_values;
  // sums[v] += weight, in order; float32 or float64. Values are in [0, bins).
  Slot<void(DType dtype, const int64_t* values, const void* weights, int64_t n, void* sums,
            int64_t bins)>
      sum_weights;
  // hist[b] = the weight of the elements in [edge b, edge b + 1), the last edge included; `hist`
  // starts at 0.
  Slot<void(const HistogramArgs& args, void* hist)> histogram;
  // The same for `bins` even intervals of [low, high], by arithmetic alone.
  Slot<void(DType dtype, const void* in, int64_t n, double low, double high, int64_t bins,
            void* hist)>
      histogram_even;
};

}  // namespace fb::kernel
