// Counting elements by value and by interval.
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace fb::cpu {

// counts[v] += 1 for each of n values, all of which are in [0, bins).
void count_values(const int64_t* values, int64_t n, int64_t* counts, int64_t bins);
// sums[v] += weight, in order; float32 or float64.
void sum_weights(DType dtype, const int64_t* values, const void* weights, int64_t n, void* sums);

struct HistogramArgs {
  DType dtype;  // float32 or float64, of everything
  const void* in;
  int64_t n;
  const void* weights;  // null: each element counts 1
  const void* edges;    // bins + 1 in rising order
  int64_t bins;
  bool uniform;  // edges are evenly spaced: the bin is computed and checked, not searched
};

// hist[b] = the weight of the elements in [edge b, edge b + 1), the last edge included; `hist`
// starts at 0.
void histogram(const HistogramArgs& args, void* hist);
// The same for `bins` even intervals of [low, high], by arithmetic alone.
void histogram_even(DType dtype, const void* in, int64_t n, double low, double high, int64_t bins,
                    void* hist);

}  // namespace fb::cpu
