// Copies and conversions of strided memory.
#pragma once

#include "core/tensor.h"
#include "cpu/isa.h"

namespace fb::cpu {

// Converts n elements; steps are in bytes. Any step is allowed, 0 included.
using ConvertFn = void (*)(int64_t n, const void* in, int64_t in_step, void* out, int64_t out_step);
ConvertFn converter(DType from, DType to);

// out[...] = in[...], converting; the shapes are equal. Tiles transpositions, works in parallel.
void copy(const Tensor& out, const Tensor& in);

// The same over bare memory. Strides are in bytes; those of the source may be negative.
struct StridedTarget {
  DType dtype;
  char* data;
  Dims strides;
};
struct StridedSource {
  DType dtype;
  const char* data;
  Dims strides;
};
void copy_strided(IntSpan shape, const StridedTarget& out, const StridedSource& in);

// Sets every element, whatever the strides.
void fill(const Tensor& out, const Scalar& value);

FB_DECLARE_KERNEL(ConvertFn, convert_kernel, DType from, DType to)
// out[c * out_step + r] = in[r * in_step + c]: a rows x columns matrix turned over. Steps are in
// elements.
FB_DECLARE_KERNEL(void, transpose_tile, size_t element_size, int64_t rows, int64_t columns,
                  const void* in, int64_t in_step, void* out, int64_t out_step)

}  // namespace fb::cpu
