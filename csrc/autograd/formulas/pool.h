// What the gradients of pooling call.
#pragma once

#include "autograd/window.h"
#include "ops/types.h"

namespace fb::autograd::formula {

// `input` is the geometry of what was pooled: its gradient lies in memory as it does.
Tensor avg_pool_backward(const Tensor& grad, const Window& input, int64_t rank, IntSpan kernel_size,
                         std::optional<IntSpan> stride, IntSpan padding, bool ceil_mode,
                         bool count_include_pad, std::optional<int64_t> divisor_override);
Tensor avg_pool(const Tensor& input, int64_t rank, IntSpan kernel_size,
                std::optional<IntSpan> stride, IntSpan padding, bool ceil_mode,
                bool count_include_pad, std::optional<int64_t> divisor_override);
Tensor adaptive_avg_pool_backward(const Tensor& grad, const Window& input, int64_t rank);
// To the sizes of `result`.
Tensor adaptive_avg_pool(const Tensor& input, IntSpan result, int64_t rank);
// _max_pool_scatter for positions in planes, which need no windows.
Tensor max_scatter(const Tensor& grad, const Tensor& positions, IntSpan shape, int64_t rank);
// Of the rank that output_size has.
Tensor max_unpool(const Tensor& input, const Tensor& indices, IntSpan output_size);

}  // namespace fb::autograd::formula
