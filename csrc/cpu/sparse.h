// Places of the blocks of sparse tensors.
#pragma once

#include "cpu/isa.h"
#include "kernel/sparse.h"

namespace fb::cpu {

FB_DECLARE_SLOT(kernel::Sparse, number_places)
FB_DECLARE_SLOT(kernel::Sparse, locate_places)
FB_DECLARE_SLOT(kernel::Sparse, group_places)
FB_DECLARE_SLOT(kernel::Sparse, merge_places)
FB_DECLARE_SLOT(kernel::Sparse, match_places)

}  // namespace fb::cpu
