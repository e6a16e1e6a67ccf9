// Running sums, products and extrema along one dimension.
#pragma once

#include "cpu/isa.h"
#include "kernel/scan.h"

namespace fb::cpu {

using kernel::ScanOp;
using kernel::ScanShape;

FB_DECLARE_LEVELS(kernel::Scan, scan)
FB_DECLARE_LEVELS(kernel::Scan, scan_extremum)
FB_DECLARE_LEVELS(kernel::Scan, recurrence)

}  // namespace fb::cpu
