// Normalisation.
#pragma once

#include "cuda/slots.h"
#include "kernel/norm.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Norm, norm_planar)
FB_DECLARE_CUDA(kernel::Norm, norm_planar_backward)
FB_DECLARE_CUDA(kernel::Norm, norm_interleaved)
FB_DECLARE_CUDA(kernel::Norm, norm_interleaved_backward)
FB_DECLARE_CUDA(kernel::Norm, norm_rows)
FB_DECLARE_CUDA(kernel::Norm, norm_rows_backward)
FB_DECLARE_CUDA(kernel::Norm, norm_deviations)
FB_DECLARE_CUDA(kernel::Norm, norm_running)

}  // namespace fb::cuda
