// The gradients of sparse tensors.
#pragma once

#include "ops/types.h"

namespace fb::autograd::formula {

// Of the values that a sparse tensor was made of: the elements at their positions.
Tensor sparse_coo_backward(const Tensor& grad, const Tensor& indices);
// Of a tensor that was made dense: where it has values if `masked`, else everywhere.
Tensor to_dense_backward(const Tensor& grad, const Tensor& input, bool masked);
// Of a tensor whose values were taken.
Tensor values_backward(const Tensor& grad, const Tensor& input);
// Of a dense tensor that was masked by the positions of `mask`.
Tensor sparse_mask_backward(const Tensor& grad, const Tensor& mask);

}  // namespace fb::autograd::formula
