// Bytes of images: other resolutions and other values.
#pragma once

#include "cpu/isa.h"
#include "kernel/pixels.h"

namespace fb::cpu {

using kernel::ByteMapPlan;
using kernel::ByteResizePlan;
using kernel::ByteSums;

FB_DECLARE_LEVELS(kernel::Pixels, resize_bytes)
FB_DECLARE_SLOT(kernel::Pixels, map_bytes)

}  // namespace fb::cpu
