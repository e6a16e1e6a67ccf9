// Max pooling.
#pragma once

#include "cuda/slots.h"
#include "kernel/pool.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Pool, max_pool)
FB_DECLARE_CUDA(kernel::Pool, max_pool_scatter)
FB_DECLARE_CUDA(kernel::Pool, max_pool_pick)
FB_DECLARE_CUDA(kernel::Pool, max_unpool)
FB_DECLARE_CUDA(kernel::Pool, fractional_max_pool)

}  // namespace fb::cuda
