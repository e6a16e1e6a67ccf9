// Convolutions: forward and the two gradients.
#pragma once

#include "cuda/slots.h"
#include "kernel/conv.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Conv, conv_forward)
FB_DECLARE_CUDA(kernel::Conv, conv_backward_data)
FB_DECLARE_CUDA(kernel::Conv, conv_backward_weight)
FB_DECLARE_CUDA(kernel::Conv, conv_planes)
FB_DECLARE_CUDA(kernel::Conv, conv_planes_data)
FB_DECLARE_CUDA(kernel::Conv, conv_planes_weight)
FB_DECLARE_CUDA(kernel::Conv, fill_pixels)
FB_DECLARE_CUDA(kernel::Conv, conv_supports)

}  // namespace fb::cuda
