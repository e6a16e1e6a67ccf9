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

enum class ConvPass : int { kForward, kData, kWeight };

// By cuDNN, over images whose channels are neighbours: writes `out`, `in` or `weight`. False where
// the library is not there, is not wanted or refuses.
bool conv_cudnn(ConvPass pass, const kernel::ConvShape& shape, const Tensor& in,
                const Tensor& weight, const Tensor& out);

// Adds an element of `bias` to each channel of an image with channels last.
void add_bias_to_pixels(const Tensor& image, const Tensor& bias);

}  // namespace fb::cuda
