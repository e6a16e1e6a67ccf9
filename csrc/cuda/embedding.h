// Rows of a table picked by number.
#pragma once

#include "cuda/slots.h"
#include "kernel/embedding.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Embedding, take_rows)
FB_DECLARE_CUDA(kernel::Embedding, add_rows)
FB_DECLARE_CUDA(kernel::Embedding, sum_bags)
FB_DECLARE_CUDA(kernel::Embedding, max_bags)
FB_DECLARE_CUDA(kernel::Embedding, add_maxima)
FB_DECLARE_CUDA(kernel::Embedding, bag_bounds)
FB_DECLARE_CUDA(kernel::Embedding, number_bags)
FB_DECLARE_CUDA(kernel::Embedding, reciprocal_sizes)
FB_DECLARE_CUDA(kernel::Embedding, reciprocal_counts)
FB_DECLARE_CUDA(kernel::Embedding, replace_number)
FB_DECLARE_CUDA(kernel::Embedding, limit_norms)

}  // namespace fb::cuda
