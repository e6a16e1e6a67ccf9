// Positions of the blocks of sparse tensors.
#pragma once

#include "cuda/slots.h"
#include "kernel/sparse.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Sparse, number_positions)
FB_DECLARE_CUDA(kernel::Sparse, locate_positions)
FB_DECLARE_CUDA(kernel::Sparse, group_positions)
FB_DECLARE_CUDA(kernel::Sparse, merge_positions)
FB_DECLARE_CUDA(kernel::Sparse, match_positions)

}  // namespace fb::cuda
