// What the gradients of picking and placing elements call.
#pragma once

#include "ops/advanced_index.h"

namespace fb::autograd::formula {

using ops::spread_index;

// gather, in the shape of a source of which index used only a part.
Tensor gather_part(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan shape);
// index_select, in the shape of the source.
Tensor picked_parts(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan shape);
// The sum over the positions that were filled, each counted once.
Tensor filled_positions(const Tensor& grad, int64_t dim, const Tensor& index);
// Zero where the indices point.
Tensor without_positions(const Tensor& grad, TensorList indices);
Tensor without_elements(const Tensor& grad, const Tensor& index);
// What was stored where the indices point, in a shape from which `shape` was broadcast.
Tensor put_values_backward(const Tensor& grad, TensorList indices, IntSpan shape);
Tensor masked_source_backward(const Tensor& grad, const Tensor& mask, IntSpan shape);

// scatter_reduce: elements that meet at a position share its gradient according to the reduction.
Tensor reduced_input_backward(const Tensor& grad, const Tensor& input, int64_t dim,
                              const Tensor& index, const Tensor& src, const std::string& reduce,
                              bool include_self, const Tensor& result);
Tensor reduced_src_backward(const Tensor& grad, const Tensor& input, int64_t dim,
                            const Tensor& index, const Tensor& src, const std::string& reduce,
                            bool include_self, const Tensor& result);

}  // namespace fb::autograd::formula
