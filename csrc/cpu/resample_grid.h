// Images sampled at given points.
#pragma once

#include "cpu/isa.h"
#include "kernel/resample_grid.h"

namespace fb::cpu {

using kernel::GridMode;
using kernel::GridPadding;
using kernel::GridPlan;

FB_DECLARE_LEVELS(kernel::ResampleGrid, grid_sample)
FB_DECLARE_LEVELS(kernel::ResampleGrid, grid_sample_image_gradient)
FB_DECLARE_LEVELS(kernel::ResampleGrid, grid_sample_grid_gradient)
FB_DECLARE_SLOT(kernel::ResampleGrid, pixel_points)

}  // namespace fb::cpu
