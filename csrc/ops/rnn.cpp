// Recurrent networks: stacked layers, and single steps.
#include "gen/ops/rnn.h"

#include "autograd/record.h"
#include "gen/ops/arith.h"
#include "gen/ops/random.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"
#include "ops/host.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

// The arguments that all networks have.
struct Network {
  TensorList params;
  bool has_biases;
  int64_t layers;
  double dropout;
  bool train, bidirectional;

  int64_t directions() const { return bidirectional ? 2 : 1; }
};

struct States {
  Tensor output, h, c;
};

// Whether backward, forward mode or vmap will need what a layer can keep.
bool is_observed(TensorList tensors) {
  if (autograd::flags_of(tensors) & (kDual | kBatched)) return true;
  return autograd::is_recording() && autograd::wants_grad(tensors);
}

// Draws as PyTorch's does: one mask for the whole output.
Tensor dropped(const Tensor& x, double p) {
  Tensor mask = make_like(x, x.dtype());
  ops::bernoulli_(mask, 1 - p, nullptr);
  return ops::mul(x, ops::div(mask, 1 - p));
}

Tensor joined(const std::vector<Tensor>& layers) {
  return layers.size() == 1 ? layers[0] : ops::cat(layers, 0);
}

// Checks in PyTorch's order, with its exception classes.
void check_arguments(const std::string& mode, const Tensor& input, const Tensor& hx, int64_t count,
                     bool batch_first) {
  const auto check_dims = [&](ErrorKind kind, int64_t least) {
    FB_CHECK_AS(kind, hx.dim() >= least, "expected a hidden state of 3 dimensions, got ",
                hx.sizes());
  };
  FB_CHECK_INDEX(!batch_first || input.dim() >= 2, "expected an input of 3 dimensions, got ",
                 input.sizes());
  check_dims(ErrorKind::kIndex, mode == "LSTM" ? 3 : 1);
  FB_CHECK(hx.size(0) == count, "expected a hidden state of ", count, " layers, got ", hx.sizes());
  check_dims(mode == "GRU" ? ErrorKind::kIndex : ErrorKind::kRuntime, 3);
}

States run(const std::string& mode, Tensor input, const Tensor& hx, const Tensor& cx,
           const Network& net, std::optional<IntSpan> batch_sizes, bool batch_first) {
  const auto layers = static_cast<size_t>(net.layers);
  FB_CHECK(layers > 0 && net.params.size() % layers == 0, "got ", net.params.size(),
           " parameters for ", net.layers, " layers");
  const int64_t directions = net.directions();
  check_arguments(mode, input, hx, net.layers * directions, batch_first);
  const size_t each = net.params.size() / layers;
  FB_CHECK(net.has_biases == (static_cast<int64_t>(each) >= 4 * directions), "got ", each,
           " parameters for each layer ", net.has_biases ? "with" : "without", " biases");
  const bool drops = net.train && net.dropout > 0 && layers > 1;
  // Masks are drawn step by step.
  const bool time_first = batch_first && drops;
  if (time_first) input = ops::transpose(input, 0, 1);
  std::vector<Tensor> h, c, inputs{input, hx};
  if (cx) inputs.push_back(cx);
  inputs.insert(inputs.end(), net.params.begin(), net.params.end());
  const bool keep = is_observed(inputs);
  for (size_t i = 0; i < layers; ++i) {
    const auto of_layer = [&](const Tensor& state) {
      if (!state || layers == 1) return state;
      return ops::narrow(state, 0, static_cast<int64_t>(i) * directions, directions);
    };
    const auto [output, last_h, last_c, kept] =
        ops::rnn_layer(mode, input, of_layer(hx), of_layer(cx), net.params.subspan(i * each, each),
                       batch_sizes, batch_first && !time_first, keep);
    input = drops && i + 1 < layers ? dropped(output, net.dropout) : output;
    h.push_back(last_h);
    c.push_back(last_c);
  }
  return {time_first ? ops::transpose(input, 0, 1) : input, joined(h), cx ? joined(c) : Tensor()};
}

std::vector<int64_t> sizes_of(const Tensor& batch_sizes) {
  FB_CHECK(batch_sizes.dim() == 1 && batch_sizes.dtype() == DType::kInt64,
           "batch_sizes must be a vector of int64, got ", batch_sizes.dtype(), " of shape ",
           batch_sizes.sizes());
  std::vector<int64_t> result = host_integers(batch_sizes);
  for (size_t t = 0; t + 1 < result.size(); ++t)
    FB_CHECK(result[t] >= result[t + 1], "batch_sizes must not grow, got ", IntSpan(result));
  return result;
}

void check_two(TensorList hx) {
  FB_CHECK(hx.size() == 2, "expected two hidden states, got ", hx.size());
}

std::tuple<Tensor, Tensor> without_cells(const States& states) { return {states.output, states.h}; }

// A bias of more dimensions than one may broadcast.
Tensor as_vector(const Tensor& bias) {
  return bias && bias.dim() != 1 ? ops::reshape(bias, Dims{-1}) : bias;
}

Tensor state_after(const std::string& mode, const Tensor& input, const Tensor& hx,
                   const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  return std::get<0>(
      ops::rnn_cell(mode, input, hx, {}, w_ih, w_hh, as_vector(b_ih), as_vector(b_hh)));
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> composed::lstm(const Tensor& input, TensorList hx,
                                                  TensorList params, bool has_biases,
                                                  int64_t num_layers, double dropout, bool train,
                                                  bool bidirectional, bool batch_first) {
  check_two(hx);
  auto [output, h, c] =
      run("LSTM", input, hx[0], hx[1],
          {params, has_biases, num_layers, dropout, train, bidirectional}, {}, batch_first);
  return {output, h, c};
}

std::tuple<Tensor, Tensor, Tensor> composed::lstm_packed(const Tensor& data,
                                                         const Tensor& batch_sizes, TensorList hx,
                                                         TensorList params, bool has_biases,
                                                         int64_t num_layers, double dropout,
                                                         bool train, bool bidirectional) {
  check_two(hx);
  auto [output, h, c] = run("LSTM", data, hx[0], hx[1],
                            {params, has_biases, num_layers, dropout, train, bidirectional},
                            IntSpan(sizes_of(batch_sizes)), false);
  return {output, h, c};
}

#define FB_NETWORK(name, mode)                                                                    \
  std::tuple<Tensor, Tensor> composed::name(                                                      \
      const Tensor& input, const Tensor& hx, TensorList params, bool has_biases,                  \
      int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {     \
    return without_cells(run(mode, input, hx, {},                                                 \
                             {params, has_biases, num_layers, dropout, train, bidirectional}, {}, \
                             batch_first));                                                       \
  }                                                                                               \
  std::tuple<Tensor, Tensor> composed::name##_packed(                                             \
      const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params,         \
      bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) {      \
    return without_cells(run(mode, data, hx, {},                                                  \
                             {params, has_biases, num_layers, dropout, train, bidirectional},     \
                             IntSpan(sizes_of(batch_sizes)), false));                             \
  }                                                                                               \
  Tensor composed::name##_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih,         \
                               const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {      \
    return state_after(mode, input, hx, w_ih, w_hh, b_ih, b_hh);                                  \
  }
FB_NETWORK(gru, "GRU")
FB_NETWORK(rnn_tanh, "RNN_TANH")
FB_NETWORK(rnn_relu, "RNN_RELU")
#undef FB_NETWORK

std::tuple<Tensor, Tensor> composed::lstm_cell(const Tensor& input, TensorList hx,
                                               const Tensor& w_ih, const Tensor& w_hh,
                                               const Tensor& b_ih, const Tensor& b_hh) {
  check_two(hx);
  auto [h, c, gates] =
      ops::rnn_cell("LSTM", input, hx[0], hx[1], w_ih, w_hh, as_vector(b_ih), as_vector(b_hh));
  return {h, c};
}

}  // namespace fb::ops
