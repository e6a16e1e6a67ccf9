// Convolutions that keep channels apart, over images whose channels are planes.
#pragma once

#include "cpu/conv.h"
#include "cpu/isa.h"

namespace fb::cpu {

// Of planes with a kernel for each channel, step 1; `flipped` kernels are taken from their end.
struct DepthwiseCall {
  int64_t channels, from_height, from_width, to_height, to_width;
  int64_t kernel_height, kernel_width, padding_y, padding_x;
  bool flipped;
};

// Planes [first, last) of the result. An infinite weight makes NaN of the padding.
FB_DECLARE_KERNEL(void, depthwise_planes, const DepthwiseCall& call, const float* from,
                  const float* weight, const float* bias, float* to, int64_t first, int64_t last)
// The gradient of the kernels of channels [first, last). An infinite element makes NaN of it.
FB_DECLARE_KERNEL(void, depthwise_weight, const DepthwiseCall& call, int64_t batch,
                  const float* from, const float* gradient, float* weight, int64_t first,
                  int64_t last)

}  // namespace fb::cpu
