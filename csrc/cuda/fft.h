// Fourier transforms.
#pragma once

#include "cuda/slots.h"
#include "kernel/fft.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Fft, fft)

}  // namespace fb::cuda
