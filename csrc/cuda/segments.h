// Values that belong to the same place, joined in a fixed order.
#pragma once

#include "core/dtype.h"
#include "cuda/device/segments_args.h"
#include "kernel/index.h"

namespace fb::cuda {

// What comes from and goes where, without what is worked out here.
using Segments = device::SegmentArguments;

// The type of keys up to `limit`.
inline DType key_type(int64_t limit) {
  return limit < int64_t{1} << 31 ? DType::kInt32 : DType::kInt64;
}

// A row of `values` for each of n keys, which are not sorted: numbers below `limit`, or `limit`
// itself for a row that is left out, of key_type(limit). Values are of the first type, the target
// of the second one.
void join_segments(int device, const Segments& segments, kernel::ScatterMode mode, DType values,
                   DType target);

}  // namespace fb::cuda
