// Sorting and selection along the rows of a contiguous array.
#pragma once

#include "cpu/isa.h"
#include "kernel/sort.h"

namespace fb::cpu {

using kernel::SortRows;

FB_DECLARE_LEVELS(kernel::Sort, sort_rows)
FB_DECLARE_LEVELS(kernel::Sort, select_rows)
FB_DECLARE_SLOT(kernel::Sort, mode_rows)
FB_DECLARE_SLOT(kernel::Sort, median_ranks)

}  // namespace fb::cpu
