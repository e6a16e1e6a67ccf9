// Euclidean distances between the rows of two arrays, one of each.
#pragma once

#include "cpu/isa.h"
#include "kernel/distance.h"

namespace fb::cpu {

using kernel::PairCall;

FB_DECLARE_LEVELS(kernel::Distance, pair_distances)
FB_DECLARE_LEVELS(kernel::Distance, pair_gradient)

}  // namespace fb::cpu
