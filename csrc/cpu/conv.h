// Convolutions of images in memory.
#pragma once

#include "cpu/isa.h"
#include "kernel/conv.h"

namespace fb::cpu {

using kernel::ConvShape;
using kernel::Extent;

FB_DECLARE_SLOT(kernel::Conv, conv_forward)
FB_DECLARE_SLOT(kernel::Conv, conv_backward_data)
FB_DECLARE_SLOT(kernel::Conv, conv_backward_weight)
FB_DECLARE_SLOT(kernel::Conv, conv_planes)
FB_DECLARE_SLOT(kernel::Conv, conv_planes_data)
FB_DECLARE_SLOT(kernel::Conv, conv_planes_weight)
FB_DECLARE_SLOT(kernel::Conv, fill_pixels)
FB_DECLARE_SLOT(kernel::Conv, conv_supports)

}  // namespace fb::cpu
