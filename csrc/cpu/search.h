// Binary search in sorted rows.
#pragma once

#include "cpu/isa.h"
#include "kernel/search.h"

namespace fb::cpu {

using kernel::SearchArgs;

FB_DECLARE_SLOT(kernel::Search, search_sorted)

}  // namespace fb::cpu
