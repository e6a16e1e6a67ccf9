// Counting elements by value and by interval.
#pragma once

#include "cpu/isa.h"
#include "kernel/histogram.h"

namespace fb::cpu {

using kernel::HistogramArgs;

FB_DECLARE_SLOT(kernel::Histogram, count_values)
FB_DECLARE_SLOT(kernel::Histogram, sum_weights)
FB_DECLARE_SLOT(kernel::Histogram, histogram)
FB_DECLARE_SLOT(kernel::Histogram, histogram_even)

}  // namespace fb::cpu
