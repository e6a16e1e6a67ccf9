// Elements picked by position: gather, scatter, masks.
#pragma once

#include <vector>

#include "core/tensor.h"
#include "cpu/copy.h"

namespace fb::cpu {

// Places picked out of `target`: of the dimensions before.. before+positions.size()-1, element k of
// the result has the coordinates positions[0][k], positions[1][k], ... Negative positions count
// from the end, or are refused.
struct Picks {
  Tensor target;
  int64_t before = 0;
  std::vector<Tensor> positions;  // int64, contiguous, all of the shape `shape`
  Dims shape;
  bool from_the_end = true;

  int64_t count() const { return numel_of(shape); }
  // Dimensions before the picked ones, then `shape`, then those after.
  Dims result_shape() const;
};

// out = target[picks]; `out` is contiguous and of the result's shape. IndexError if a position is
// outside.
void pick(const Tensor& out, const Picks& picks);
// target[picks] = values, or += with accumulate; `values` has the result's shape. Where a place is
// picked twice the last value stays. Nothing is written if a position is outside.
void place(const Picks& picks, const Tensor& values, bool accumulate);

enum class ScatterMode { kStore, kAdd, kMultiply, kMin, kMax };

// out[i][j] = input[index[i][j]][j] (for dim 0; likewise for others). `index` is contiguous int64;
// `out` is contiguous and of its shape.
void gather(const Tensor& out, const Tensor& input, int64_t dim, const Tensor& index);
// target[index[i][j]][j] = source[i][j], or combined with what is there; `source` has the shape of
// `index`.
void scatter(const Tensor& target, int64_t dim, const Tensor& index, const Tensor& source,
             ScatterMode mode);

// Means from sums: divides where more than one element was added. Both contiguous; `counts` is
// int64.
void divide_by_counts(const Tensor& sums, const Tensor& counts);

// Positions of the true elements of a contiguous mask: a tensor [dims, count], in row-major order.
Tensor nonzero_columns(const Tensor& mask);
// The elements of `input` where `mask` is true; both contiguous, of equal shape.
Tensor compress(const Tensor& input, const Tensor& mask);
// out = mask ? value : input; all contiguous, of equal shape. `value` points to one element.
void masked_fill(const Tensor& out, const Tensor& input, const Tensor& mask, const void* value);

// --- kernels; `size` is that of an element, steps and offsets are in bytes

// Byte offsets of n picks: the sum over dimensions of position * stride. False if a position is
// outside, or negative where none counts from the end.
FB_DECLARE_KERNEL(bool, pick_offsets, int64_t n, int dims, const int64_t* const* positions,
                  const int64_t* sizes, const int64_t* strides, bool from_the_end, int64_t* offsets)
FB_DECLARE_KERNEL(void, pick_elements, size_t size, int64_t n, const char* in,
                  const int64_t* offsets, char* out)
FB_DECLARE_KERNEL(void, place_elements, size_t size, int64_t n, const char* in, int64_t in_step,
                  const int64_t* offsets, char* out)
FB_DECLARE_KERNEL(void, add_elements, DType t, int64_t n, const char* in, int64_t in_step,
                  const int64_t* offsets, char* out)
// out[i] += in[i].
FB_DECLARE_KERNEL(ConvertFn, add_kernel, DType t)
// One run of a gather or scatter: element j is at base + j * inner_step + index[j] * dim_step on
// the indexed side.
FB_DECLARE_KERNEL(void, gather_run, size_t size, int64_t n, const int64_t* index, const char* base,
                  int64_t inner_step, int64_t dim_step, char* out)
using ScatterFn = void (*)(int64_t n, const int64_t* index, char* base, int64_t inner_step,
                           int64_t dim_step, const char* source, int64_t source_step);
FB_DECLARE_KERNEL(ScatterFn, scatter_kernel, DType t, ScatterMode mode)
// The least and the greatest of n positions.
FB_DECLARE_KERNEL(void, index_range, int64_t n, const int64_t* index, int64_t* least,
                  int64_t* greatest)
FB_DECLARE_KERNEL(int64_t, count_true, int64_t n, const bool* mask)
// Writes the positions begin.. of the true elements among n, or the elements themselves: `room` of
// them, which is what count_true has found.
FB_DECLARE_KERNEL(void, true_positions, int64_t n, const bool* mask, int64_t begin, int64_t* out,
                  int64_t room)
FB_DECLARE_KERNEL(void, compress_run, size_t size, int64_t n, const char* in, const bool* mask,
                  char* out, int64_t room)
FB_DECLARE_KERNEL(void, masked_fill_run, size_t size, int64_t n, const char* in, const bool* mask,
                  const void* value, char* out)

}  // namespace fb::cpu
