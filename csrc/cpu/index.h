// Elements picked by position: gather, scatter, masks.
#pragma once

#include "cpu/copy.h"
#include "kernel/index.h"

namespace fb::cpu {

using kernel::Picks;
using kernel::ScatterMode;

FB_DECLARE_SLOT(kernel::Index, pick)
FB_DECLARE_SLOT(kernel::Index, index_put)
FB_DECLARE_SLOT(kernel::Index, gather)
FB_DECLARE_SLOT(kernel::Index, scatter)
FB_DECLARE_SLOT(kernel::Index, divide_by_counts)
FB_DECLARE_SLOT(kernel::Index, total_count)
FB_DECLARE_SLOT(kernel::Index, repeat_positions)
FB_DECLARE_SLOT(kernel::Index, nonzero_columns)
FB_DECLARE_SLOT(kernel::Index, compress)
FB_DECLARE_SLOT(kernel::Index, masked_fill)

// `size` is that of an element, steps and offsets are in bytes

// Byte offsets of n picks: the sum over dimensions of position * stride. False if a position is out
// of bounds, or negative where that is not allowed.
FB_DECLARE_KERNEL(bool, pick_offsets, int64_t n, int dims, const int64_t* const* positions,
                  const int64_t* sizes, const int64_t* strides, bool from_the_end, int64_t* offsets)
FB_DECLARE_KERNEL(void, pick_elements, size_t size, int64_t n, const char* in,
                  const int64_t* offsets, char* out)
FB_DECLARE_KERNEL(void, put_elements, size_t size, int64_t n, const char* in, int64_t in_step,
                  const int64_t* offsets, char* out)
FB_DECLARE_KERNEL(void, add_elements, DType t, int64_t n, const char* in, int64_t in_step,
                  const int64_t* offsets, char* out)
// out[i] += in[i].
FB_DECLARE_KERNEL(ConvertFn, add_kernel, DType t)
// One run of a gather or scatter: element j is at base + j * inner_step + index[j] * dim_step on
// the indexed side.
// A gather moves nothing and gives false if a position is not within [0, length).
FB_DECLARE_KERNEL(bool, gather_run, size_t size, int64_t n, const int64_t* index, int64_t length,
                  const char* base, int64_t inner_step, int64_t dim_step, char* out)
using ScatterFn = void (*)(int64_t n, const int64_t* index, char* base, int64_t inner_step,
                           int64_t dim_step, const char* source, int64_t source_step);
FB_DECLARE_KERNEL(ScatterFn, scatter_kernel, DType t, ScatterMode mode)
// Whether n positions are all within [0, length).
FB_DECLARE_KERNEL(bool, are_within, int64_t n, const int64_t* index, int64_t length)
FB_DECLARE_KERNEL(int64_t, count_true, int64_t n, const bool* mask)
// Writes the positions, counted from `begin`, of the true elements among n, or the elements
// themselves: `room` of them, the number that count_true has found.
FB_DECLARE_KERNEL(void, true_positions, int64_t n, const bool* mask, int64_t begin, int64_t* out,
                  int64_t room)
FB_DECLARE_KERNEL(void, compress_run, size_t size, int64_t n, const char* in, const bool* mask,
                  char* out, int64_t room)
FB_DECLARE_KERNEL(void, masked_fill_run, size_t size, int64_t n, const char* in, const bool* mask,
                  const void* value, char* out)

}  // namespace fb::cpu
