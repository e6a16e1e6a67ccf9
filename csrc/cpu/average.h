// Running averages of tensors.
#pragma once

#include "cpu/optim.h"

namespace fb::cpu {

struct AverageNumbers {
  double weight;  // of what is added
};

// Moves every `param` by its share of the way to `grad`, as lerp does.
FB_DECLARE_KERNEL(void, optim_average, std::span<const OptimTensor> tensors)

}  // namespace fb::cpu
