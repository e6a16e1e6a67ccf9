// Running sums, products and extrema along one dimension.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "cpu/isa.h"

namespace fb::cpu {

enum class ScanOp : uint8_t { kSum, kProd, kLogSumExp, kMax, kMin };

// `in` and `out` are contiguous arrays (outer, n, inner) of one type, scanned along the middle. The extrema
// write where they stand to `indices` too: the last of equals, as PyTorch does.
FB_DECLARE_KERNEL(void, scan, ScanOp op, DType dtype, const void* in, void* out, int64_t* indices,
                  int64_t outer, int64_t n, int64_t inner)

}  // namespace fb::cpu
