// Normalisation.
#pragma once

#include "cpu/isa.h"
#include "kernel/norm.h"

namespace fb::cpu {

using kernel::ImageNorm;
using kernel::NormBackward;
using kernel::NormForward;
using kernel::RowNorm;

FB_DECLARE_LEVELS(kernel::Norm, norm_planar)
FB_DECLARE_LEVELS(kernel::Norm, norm_planar_backward)
FB_DECLARE_LEVELS(kernel::Norm, norm_interleaved)
FB_DECLARE_LEVELS(kernel::Norm, norm_interleaved_backward)
FB_DECLARE_LEVELS(kernel::Norm, norm_rows)
FB_DECLARE_LEVELS(kernel::Norm, norm_rows_backward)
FB_DECLARE_SLOT(kernel::Norm, norm_deviations)
FB_DECLARE_SLOT(kernel::Norm, norm_running)

}  // namespace fb::cpu
