// Matrix products on raw row-major memory. Picks between small kernels, tiles of our own, oneDNN,
// OpenBLAS and plain loops.
#pragma once

#include "cpu/isa.h"
#include "kernel/gemm.h"

namespace fb::cpu {

using kernel::GemmCall;
using kernel::MatrixIn;
using kernel::MatrixOut;

FB_DECLARE_SLOT(kernel::Gemm, gemm)
FB_DECLARE_SLOT(kernel::Gemm, gemm_supports)

}  // namespace fb::cpu
