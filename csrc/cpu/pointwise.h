// Running an element function over strided operands of any element types.
#pragma once

#include "cpu/isa.h"
#include "kernel/pointwise.h"

namespace fb::cpu {

using kernel::kMaxPointwiseInputs;
using kernel::PointwiseCall;
using kernel::PointwiseId;
using kernel::PointwiseInput;
using kernel::PointwiseRun;

// The generated loop of an element function for one element type: see PointwiseRun.
using PointwiseLoop = void (*)(int64_t n, void* out, const void* const* in, unsigned fixed,
                               const void* params);
// Of the level, by element function, then element type.
const PointwiseLoop* const* pointwise_loops();

FB_DECLARE_SLOT(kernel::Pointwise, pointwise_run)
FB_DECLARE_SLOT(kernel::Pointwise, pointwise)
FB_DECLARE_SLOT(kernel::Pointwise, frexp)

}  // namespace fb::cpu
