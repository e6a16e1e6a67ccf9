// Matrix products.
#pragma once

#include "cuda/slots.h"
#include "kernel/gemm.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Gemm, gemm)
FB_DECLARE_CUDA(kernel::Gemm, gemm_supports)

// By cuBLASLt, for floating-point and complex types; false where it is not there or refuses.
bool gemm_cublas(int device, const kernel::GemmCall& call);

}  // namespace fb::cuda
