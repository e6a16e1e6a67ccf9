// Separable maps of tensors: see Note [Separable maps] in kernel/resample.h.
#pragma once

#include "kernel/resample.h"
#include "ops/image.h"

namespace fb::ops {

// One map for each dimension after the channels.
using Separable = std::vector<kernel::AxisMap>;

Separable transposed(const Separable& maps);
// The image in the sizes that the maps give it. Complex elements are mapped by their parts.
Tensor run_separable(const Image& image, Separable maps);
// The same one dimension at a time, the last one first, rounding in between, as PyTorch resizes
// bytes.
Tensor run_rounding(const Image& image, Separable maps);

}  // namespace fb::ops
