// The gradients of rows picked from a table.
#pragma once

#include <array>

#include "ops/types.h"

namespace fb::autograd::formula {

Tensor embedding_backward(const Tensor& grad, const Tensor& indices, int64_t rows,
                          int64_t padding_idx, bool scale_grad_by_freq, bool sparse);
// The adjoint: every gradient gets the row that it was added to.
Tensor embedding_backward_gradient(const Tensor& grad, const Tensor& indices, int64_t padding_idx,
                                   bool scale_grad_by_freq);

// Of the table and of per_sample_weights.
std::array<Tensor, 2> embedding_bag_backward(const Tensor& grad, const Tensor& weight,
                                             const Tensor& indices, const Tensor& bags,
                                             const Tensor& sizes, const Tensor& maximum_rows,
                                             bool scale_grad_by_freq, int64_t mode, bool sparse,
                                             const Tensor& per_sample_weights,
                                             std::optional<int64_t> padding_idx,
                                             std::array<bool, 2> needed);

}  // namespace fb::autograd::formula
