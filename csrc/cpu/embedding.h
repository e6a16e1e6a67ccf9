// Rows of a table picked by number.
#pragma once

#include "cpu/isa.h"
#include "kernel/embedding.h"

namespace fb::cpu {

using kernel::BagOffsets;
using kernel::Bags;
using kernel::RowSums;
using kernel::RowTable;

FB_DECLARE_LEVELS(kernel::Embedding, take_rows)
FB_DECLARE_LEVELS(kernel::Embedding, add_rows)
FB_DECLARE_LEVELS(kernel::Embedding, sum_bags)
FB_DECLARE_LEVELS(kernel::Embedding, max_bags)
FB_DECLARE_SLOT(kernel::Embedding, add_maxima)
FB_DECLARE_SLOT(kernel::Embedding, bag_bounds)
FB_DECLARE_SLOT(kernel::Embedding, number_bags)
FB_DECLARE_SLOT(kernel::Embedding, reciprocal_sizes)
FB_DECLARE_SLOT(kernel::Embedding, reciprocal_counts)
FB_DECLARE_SLOT(kernel::Embedding, replace_number)
FB_DECLARE_SLOT(kernel::Embedding, limit_norms)

}  // namespace fb::cpu
