// Sequences of numbers.
#pragma once

#include "cpu/isa.h"
#include "kernel/create.h"

namespace fb::cpu {

using kernel::Triangle;

FB_DECLARE_SLOT(kernel::Create, arange)
FB_DECLARE_SLOT(kernel::Create, linspace)
FB_DECLARE_SLOT(kernel::Create, logspace)
FB_DECLARE_SLOT(kernel::Create, triangle_indices)

// The elements begin..end-1 of the above.
FB_DECLARE_KERNEL(void, arange_run, DType t, int64_t begin, int64_t end, const Scalar& start,
                  const Scalar& step, void* out)
FB_DECLARE_KERNEL(void, linspace_run, DType t, int64_t begin, int64_t end, int64_t steps,
                  const Scalar& first, const Scalar& last, void* out)
FB_DECLARE_KERNEL(void, logspace_run, DType t, int64_t begin, int64_t end, int64_t steps,
                  const Scalar& first, const Scalar& last, double base, void* out)

}  // namespace fb::cpu
