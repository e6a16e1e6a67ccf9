// Gradients of recurrent layers and cells.
#pragma once

#include <array>

#include "ops/types.h"

namespace fb::autograd::formula {

// Of the input, the states, the cells and the parameters of _rnn_layer.
std::vector<Tensor> rnn_layer_gradients(const Tensor& d_output, const Tensor& d_h,
                                        const Tensor& d_c, const std::string& mode,
                                        const Tensor& input, const Tensor& hx, const Tensor& cx,
                                        const std::vector<Tensor>& params, const Tensor& rows,
                                        const std::optional<Dims>& batch_sizes, bool batch_first,
                                        std::array<bool, 4> needed);

// Of the arguments of _rnn_cell.
std::vector<Tensor> rnn_cell_gradients(const Tensor& d_h, const Tensor& d_c,
                                       const std::string& mode, const Tensor& input,
                                       const Tensor& hx, const Tensor& cx, const Tensor& w_ih,
                                       const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh,
                                       const Tensor& gates, std::array<bool, 7> needed);

}  // namespace fb::autograd::formula
