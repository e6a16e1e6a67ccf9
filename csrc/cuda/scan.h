// Running sums, products and extrema along one dimension.
#pragma once

#include "cuda/slots.h"
#include "kernel/scan.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Scan, scan)
FB_DECLARE_CUDA(kernel::Scan, scan_extremum)
FB_DECLARE_CUDA(kernel::Scan, recurrence)

// sums[key] += the elements with that key, in a fixed order, for n sorted keys below `limit` (keys
// from there on are left out). Key i belongs to element order[i] of `in`: float32 or float64.
void sum_runs(int device, DType dtype, const int64_t* keys, const int64_t* order, const void* in,
              int64_t n, int64_t limit, void* sums);

}  // namespace fb::cuda
