// Distances between the rows of arrays.
#pragma once

#include "cuda/slots.h"
#include "kernel/distance.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Distance, pair_distances)
FB_DECLARE_CUDA(kernel::Distance, pair_gradient)
FB_DECLARE_CUDA(kernel::Distance, pairwise_distances)

}  // namespace fb::cuda
