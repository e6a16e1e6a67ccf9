// Running sums, products and extrema along one dimension.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

enum class ScanOp : uint8_t { kSum, kProd, kLogSumExp, kMax, kMin };

// A contiguous array (outer, n, inner), scanned along its middle dimension.
struct ScanShape {
  int64_t outer;
  int64_t n;
  int64_t inner;
};

struct Scan {
  // Sums and products of int64, float32, float64, complex64 and complex128; log-sum-exp of all but
  // int64.
  Slot<void(ScanOp op, DType dtype, const void* in, void* out, const ScanShape& shape)> scan;
  // kMax and kMin of int64, float32 and float64, and the index of the last element that equals each
  // value.
  Slot<void(ScanOp op, DType dtype, const void* in, void* out, int64_t* indices,
            const ScanShape& shape)>
      scan_extremum;
  // Of floating-point and complex elements: out[k] = in[k] + factor[k] * out[k - 1], in reverse
  // out[k] = in[k] + factor[k + 1] * out[k + 1].
  Slot<void(DType dtype, const void* in, const void* factor, void* out, const ScanShape& shape,
            bool reverse)>
      recurrence;
};

}  // namespace fb::kernel
