// Gradients of a scaled loss.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "cpu/isa.h"

namespace fb::cpu {

// Multiplies `n` elements, float32 or float64, by a factor. Returns whether all were finite.
FB_DECLARE_KERNEL(bool, unscale, void* data, int64_t n, DType dtype, double factor)

}  // namespace fb::cpu
