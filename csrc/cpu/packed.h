// Weights in the order that a kernel wants them, kept for the next call.
#pragma once

#include <functional>

#include "core/tensor.h"

namespace fb::cpu {

// What a weight is packed for: a number for each kernel and order, and sizes.
struct Packing {
  int64_t kernel;
  int64_t in_channels, out_channels;

  bool operator==(const Packing&) const = default;
};

// Memory of `bytes` that `pack` has filled with the weight, now or in an earlier call. It is kept
// once the same weight was used twice, so that training, which changes it at every step, keeps
// nothing; and only for tensors that a user holds, whose versions are counted.
Storage packed_weight(const Tensor& weight, const Packing& packing, size_t bytes,
                      const std::function<void(void* to)>& pack);

}  // namespace fb::cpu
