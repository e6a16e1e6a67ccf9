// Elements picked by position.
#pragma once

#include "cuda/slots.h"
#include "kernel/index.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Index, pick)
FB_DECLARE_CUDA(kernel::Index, index_put)
FB_DECLARE_CUDA(kernel::Index, gather)
FB_DECLARE_CUDA(kernel::Index, scatter)
FB_DECLARE_CUDA(kernel::Index, total_count)
FB_DECLARE_CUDA(kernel::Index, repeat_positions)
FB_DECLARE_CUDA(kernel::Index, nonzero_columns)
FB_DECLARE_CUDA(kernel::Index, compress)
FB_DECLARE_CUDA(kernel::Index, divide_by_counts)
FB_DECLARE_CUDA(kernel::Index, masked_fill)

}  // namespace fb::cuda
