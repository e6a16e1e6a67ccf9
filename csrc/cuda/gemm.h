// Matrix products.
#pragma once

#include <atomic>
#include <string>

#include "cuda/slots.h"
#include "kernel/gemm.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Gemm, gemm)
FB_DECLARE_CUDA(kernel::Gemm, gemm_supports)

// Whether products of float32 may be computed in TF32, with 10 bits of the factors' fractions.
inline std::atomic<bool> tf32_products{false};

// By cuBLASLt, for floating-point and complex types; false where it is not there or refuses.
bool gemm_cublas(int device, const kernel::GemmCall& call,
                 bool tf32 = tf32_products.load(std::memory_order_relaxed));

struct Library;

// Opens it, once, which takes Python's lock. Never raises. Its version is a number like 130100.
const Library& product_library();

}  // namespace fb::cuda
