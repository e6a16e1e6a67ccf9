// Sequences of numbers.
#pragma once

#include "core/tensor.h"
#include "cpu/isa.h"

namespace fb::cpu {

// out[i] = start + i * step. `out` is contiguous and of a real type.
void arange(const Tensor& out, const Scalar& start, const Scalar& step);
// Evenly spaced from start to end, both met exactly.
void linspace(const Tensor& out, const Scalar& start, const Scalar& end);
// base to the power of linspace's values.
void logspace(const Tensor& out, const Scalar& start, const Scalar& end, double base);

// The elements begin..end-1 of the above.
FB_DECLARE_KERNEL(void, arange_run, DType t, int64_t begin, int64_t end, const Scalar& start,
                  const Scalar& step, void* out)
FB_DECLARE_KERNEL(void, linspace_run, DType t, int64_t begin, int64_t end, int64_t steps,
                  const Scalar& first, const Scalar& last, void* out)
FB_DECLARE_KERNEL(void, logspace_run, DType t, int64_t begin, int64_t end, int64_t steps,
                  const Scalar& first, const Scalar& last, double base, void* out)

}  // namespace fb::cpu
