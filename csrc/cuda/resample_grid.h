// Images sampled at given points.
#pragma once

#include "cuda/slots.h"
#include "kernel/resample_grid.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::ResampleGrid, grid_sample)
FB_DECLARE_CUDA(kernel::ResampleGrid, grid_sample_image_gradient)
FB_DECLARE_CUDA(kernel::ResampleGrid, grid_sample_grid_gradient)
FB_DECLARE_CUDA(kernel::ResampleGrid, pixel_points)

}  // namespace fb::cuda
