// Softmax, log-softmax and log-sum-exp along one dimension.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

enum class SoftmaxOp : uint8_t { kSoftmax, kLogSoftmax, kLogSumExp };

struct Softmax {
  // `in` is a contiguous array (outer, n, inner) of a real floating type, normalised along its
  // middle dimension; `out` has the same shape, (outer, inner) for log-sum-exp.
  Slot<void(SoftmaxOp op, DType dtype, const void* in, void* out, int64_t outer, int64_t n,
            int64_t inner)>
      softmax;
  // The gradient of softmax or log-softmax from that of its result and the result itself. All
  // arrays are contiguous (outer, n, inner), of float32 or float64.
  Slot<void(SoftmaxOp op, DType dtype, const void* gradient, const void* result, void* out,
            int64_t outer, int64_t n, int64_t inner)>
      softmax_backward;
};

}  // namespace fb::kernel
