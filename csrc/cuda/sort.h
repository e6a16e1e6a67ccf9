// Sorting and selection along the rows of a contiguous array.
#pragma once

#include "cuda/slots.h"
#include "kernel/sort.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Sort, sort_rows)
FB_DECLARE_CUDA(kernel::Sort, select_rows)
FB_DECLARE_CUDA(kernel::Sort, mode_rows)
FB_DECLARE_CUDA(kernel::Sort, median_ranks)

}  // namespace fb::cuda
