// Checks of elements that operators make before they compute.
#pragma once

#include "cpu/isa.h"
#include "kernel/check.h"

namespace fb::cpu {

using kernel::ValueRange;

FB_DECLARE_SLOT(kernel::Check, all_within)
FB_DECLARE_SLOT(kernel::Check, all_finite)
FB_DECLARE_SLOT(kernel::Check, has_zero)
FB_DECLARE_SLOT(kernel::Check, find_outside)
FB_DECLARE_SLOT(kernel::Check, all_rising)

}  // namespace fb::cpu
