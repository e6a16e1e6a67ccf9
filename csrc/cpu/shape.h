// Concatenation, reversal and triangles.
#pragma once

#include "cpu/isa.h"
#include "kernel/copy.h"

namespace fb::cpu {

FB_DECLARE_SLOT(kernel::Copy, concatenate)
FB_DECLARE_SLOT(kernel::Copy, flip)
FB_DECLARE_SLOT(kernel::Copy, clear_triangle)

}  // namespace fb::cpu
