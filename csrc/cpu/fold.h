// Windows of images as columns, and back.
#pragma once

#include "cpu/isa.h"
#include "kernel/fold.h"

namespace fb::cpu {

using kernel::Sliding;

FB_DECLARE_LEVELS(kernel::Fold, unfold_planes)
FB_DECLARE_LEVELS(kernel::Fold, fold_planes)

}  // namespace fb::cpu
