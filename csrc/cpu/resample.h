// Weighted sums along the dimensions of images.
#pragma once

#include "cpu/isa.h"
#include "kernel/resample.h"

namespace fb::cpu {

using kernel::AxisMap;
using kernel::ResamplePlan;

FB_DECLARE_LEVELS(kernel::Resample, resample)

}  // namespace fb::cpu
