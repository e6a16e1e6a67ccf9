// Recurrent networks and some others under autocast.
#include "autograd/autocast_rules.h"

#include "gen/ops/copy.h"
#include "gen/ops/linalg.h"
#include "gen/ops/norm.h"
#include "gen/ops/rnn.h"
#include "ops/promotion.h"

namespace fb::cast_rule {
namespace {

using autocast::Cast;
using autocast::Off;

// The type of a state of this type after it is mixed with 16-bit gates.
Tensor mixed(const Tensor& result, const Tensor& state) {
  return ops::to_dtype(result, promote(result.dtype(), state.dtype()));
}

// A projection comes last, as a product of its own; otherwise the state has the type that the gates
// were mixed with.
bool has_projection(TensorList hx) { return hx[0].sizes() != hx[1].sizes(); }

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, TensorList hx, TensorList params,
                                        bool has_biases, int64_t num_layers, double dropout,
                                        bool train, bool bidirectional, bool batch_first) {
  const Cast cast(autocast::lower());
  const Off off;
  auto [output, h, c] = ops::lstm(cast(input), cast(hx), cast(params), has_biases, num_layers,
                                  dropout, train, bidirectional, batch_first);
  return {output, h, has_projection(hx) ? mixed(c, hx[1]) : c};
}

std::tuple<Tensor, Tensor, Tensor> lstm_packed(const Tensor& data, const Tensor& batch_sizes,
                                               TensorList hx, TensorList params, bool has_biases,
                                               int64_t num_layers, double dropout, bool train,
                                               bool bidirectional) {
  const Cast cast(autocast::lower());
  const Off off;
  auto [output, h, c] = ops::lstm_packed(cast(data), batch_sizes, cast(hx), cast(params),
                                         has_biases, num_layers, dropout, train, bidirectional);
  if (has_projection(hx)) return {output, h, mixed(c, hx[1])};
  return {mixed(output, hx[0]), mixed(h, hx[0]), mixed(c, hx[1])};
}

std::tuple<Tensor, Tensor> gru(const Tensor& input, const Tensor& hx, TensorList params,
                               bool has_biases, int64_t num_layers, double dropout, bool train,
                               bool bidirectional, bool batch_first) {
  const Cast cast(autocast::lower());
  const Off off;
  auto [output, h] = ops::gru(cast(input), cast(hx), cast(params), has_biases, num_layers, dropout,
                              train, bidirectional, batch_first);
  return {mixed(output, hx), mixed(h, hx)};
}

std::tuple<Tensor, Tensor> gru_packed(const Tensor& data, const Tensor& batch_sizes,
                                      const Tensor& hx, TensorList params, bool has_biases,
                                      int64_t num_layers, double dropout, bool train,
                                      bool bidirectional) {
  const Cast cast(autocast::lower());
  const Off off;
  auto [output, h] = ops::gru_packed(cast(data), batch_sizes, cast(hx), cast(params), has_biases,
                                     num_layers, dropout, train, bidirectional);
  return {mixed(output, hx), mixed(h, hx)};
}

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih,
                                     const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  const Cast cast(autocast::lower());
  const Off off;
  auto [h, c] =
      ops::lstm_cell(cast(input), cast(hx), cast(w_ih), cast(w_hh), cast(b_ih), cast(b_hh));
  return {mixed(h, hx[1]), mixed(c, hx[1])};
}

Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                const Tensor& b_ih, const Tensor& b_hh) {
  const Cast cast(autocast::lower());
  const Off off;
  return mixed(ops::gru_cell(cast(input), cast(hx), cast(w_ih), cast(w_hh), cast(b_ih), cast(b_hh)),
               hx);
}

Tensor _linalg_pinv(const Tensor& A, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  const Cast cast(DType::kFloat32), back(autocast::lower());
  const Off off;
  return back(ops::_linalg_pinv(cast(A), atol, rtol, hermitian));
}

Tensor nn_functional_local_response_norm(const Tensor& input, int64_t size, double alpha,
                                         double beta, double k) {
  const Cast cast(DType::kFloat32);
  const Off off;
  return ops::nn_functional_local_response_norm(input.dim() > 3 ? cast(input) : input, size, alpha,
                                                beta, k);
}

}  // namespace fb::cast_rule
