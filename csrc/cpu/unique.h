// Groups of equal slices.
#pragma once

#include "cpu/isa.h"
#include "kernel/unique.h"

namespace fb::cpu {

using kernel::Slices;

FB_DECLARE_SLOT(kernel::Unique, sorted_order)
FB_DECLARE_SLOT(kernel::Unique, group_equal)
FB_DECLARE_SLOT(kernel::Unique, distinct)

}  // namespace fb::cpu
