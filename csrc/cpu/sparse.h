// Positions of the blocks of sparse tensors.
#pragma once

#include "cpu/isa.h"
#include "kernel/sparse.h"

namespace fb::cpu {

FB_DECLARE_SLOT(kernel::Sparse, number_positions)
FB_DECLARE_SLOT(kernel::Sparse, locate_positions)
FB_DECLARE_SLOT(kernel::Sparse, group_positions)
FB_DECLARE_SLOT(kernel::Sparse, merge_positions)
FB_DECLARE_SLOT(kernel::Sparse, match_positions)

}  // namespace fb::cpu
