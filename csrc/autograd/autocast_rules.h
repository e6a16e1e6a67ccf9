// Operators with an autocast rule of their own (`autocast="own"` in the table).
#pragma once

#include "autograd/autocast.h"

namespace fb::cast_rule {

// The gates of a step are computed in 16 bits; where PyTorch composes the step, the state that they
// are mixed with keeps its type.
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, TensorList hx, TensorList params,
                                        bool has_biases, int64_t num_layers, double dropout,
                                        bool train, bool bidirectional, bool batch_first);
std::tuple<Tensor, Tensor, Tensor> lstm_packed(const Tensor& data, const Tensor& batch_sizes,
                                               TensorList hx, TensorList params, bool has_biases,
                                               int64_t num_layers, double dropout, bool train,
                                               bool bidirectional);
std::tuple<Tensor, Tensor> gru(const Tensor& input, const Tensor& hx, TensorList params,
                               bool has_biases, int64_t num_layers, double dropout, bool train,
                               bool bidirectional, bool batch_first);
std::tuple<Tensor, Tensor> gru_packed(const Tensor& data, const Tensor& batch_sizes,
                                      const Tensor& hx, TensorList params, bool has_biases,
                                      int64_t num_layers, double dropout, bool train,
                                      bool bidirectional);
std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih,
                                     const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh);
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                const Tensor& b_ih, const Tensor& b_hh);

// Singular values in float32, then a product in 16 bits.
Tensor _linalg_pinv(const Tensor& A, const Tensor& atol, const Tensor& rtol, bool hermitian);

// PyTorch averages over channels with its pooling of volumes, which runs in float32, or for 3-d
// input with its pooling of images, which runs in any type.
Tensor nn_functional_local_response_norm(const Tensor& input, int64_t size, double alpha,
                                         double beta, double k);

}  // namespace fb::cast_rule
