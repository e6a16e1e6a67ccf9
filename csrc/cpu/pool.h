// Max pooling.
#pragma once

#include "cpu/isa.h"
#include "kernel/pool.h"

namespace fb::cpu {

using kernel::kCompactVolume;
using kernel::PoolAxis;
using kernel::PoolCover;
using kernel::PoolPlan;

FB_DECLARE_LEVELS(kernel::Pool, max_pool)
FB_DECLARE_LEVELS(kernel::Pool, max_pool_scatter)
FB_DECLARE_LEVELS(kernel::Pool, max_pool_pick)
FB_DECLARE_LEVELS(kernel::Pool, max_unpool)
FB_DECLARE_SLOT(kernel::Pool, fractional_max_pool)

}  // namespace fb::cpu
