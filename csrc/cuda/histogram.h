// Counting elements by value and by interval.
#pragma once

#include "cuda/slots.h"
#include "kernel/histogram.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Histogram, count_values)
FB_DECLARE_CUDA(kernel::Histogram, sum_weights)
FB_DECLARE_CUDA(kernel::Histogram, histogram)
FB_DECLARE_CUDA(kernel::Histogram, histogram_even)

}  // namespace fb::cuda
