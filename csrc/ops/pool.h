// Helpers shared by pooling operators: windows as the user gives them, and plans for the kernels.
#pragma once

#include "kernel/pool.h"
#include "ops/image.h"
#include "ops/types.h"

namespace fb::ops {

// The windows of a call, with one number for each dimension.
struct Windows {
  Dims kernel, stride, padding, dilation;

  int64_t rank() const { return static_cast<int64_t>(kernel.size()); }
};
// Without a stride, windows lie side by side.
Windows read_windows(IntSpan kernel_size, std::optional<IntSpan> stride, IntSpan padding,
                     IntSpan dilation, int64_t rank);
// How many windows there are along each dimension; refuses invalid windows.
Dims pooled_space(const Tensor& input, const Windows& windows, bool ceil_mode);
// The sizes of an adaptive pooling; the least int64, which stands for None, keeps the input's size.
Dims adaptive_space(const Tensor& input, IntSpan output_size, int64_t rank);

// The axes of a plan are depth, height and width; fewer dimensions use the last of these.
inline size_t axis_of(int64_t rank, size_t dim) { return static_cast<size_t>(3 - rank) + dim; }
// A plan without windows.
kernel::PoolPlan plan_of(const Image& image);
void set_sliding_axes(kernel::PoolPlan& plan, IntSpan space, IntSpan out, const Windows& windows);

// Where the largest elements are: a byte that counts within the window, or an index of the plane.
enum class Where { kNowhere, kCompact, kIndices };
std::tuple<Tensor, Tensor> run_max_pool(const Image& image, const kernel::PoolPlan& plan,
                                        Where where);

}  // namespace fb::ops
