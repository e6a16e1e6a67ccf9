// Binary search in sorted rows.
#pragma once

#include "cuda/slots.h"
#include "kernel/search.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Search, search_sorted)

}  // namespace fb::cuda
