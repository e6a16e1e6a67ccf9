// Copies and conversions of strided memory.
#pragma once

#include "cpu/isa.h"
#include "kernel/copy.h"

namespace fb::cpu {

using kernel::StridedSource;
using kernel::StridedTarget;

// Tiles transpositions, works in parallel.
FB_DECLARE_SLOT(kernel::Copy, copy)
FB_DECLARE_SLOT(kernel::Copy, to_host)
FB_DECLARE_SLOT(kernel::Copy, copy_strided)
FB_DECLARE_SLOT(kernel::Copy, fill)

// Converts n elements; steps are in bytes. Any step is allowed, 0 included.
using ConvertFn = void (*)(int64_t n, const void* in, int64_t in_step, void* out, int64_t out_step);
ConvertFn converter(DType from, DType to);

FB_DECLARE_KERNEL(ConvertFn, convert_kernel, DType from, DType to)
// out[c * out_step + r] = in[r * in_step + c]: a rows x columns matrix transposed. Steps are in
// elements.
FB_DECLARE_KERNEL(void, transpose_tile, size_t element_size, int64_t rows, int64_t columns,
                  const void* in, int64_t in_step, void* out, int64_t out_step)
// Units of three bytes, such as the pixels of a photograph.
FB_DECLARE_KERNEL(void, copy_triples, int64_t n, const void* in, int64_t in_step, void* out,
                  int64_t out_step)

}  // namespace fb::cpu
