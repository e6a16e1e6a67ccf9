// Note [Recurrence replayed]: backward of a layer or a cell is one kernel, which cannot be
// differentiated. If the gradient itself needs a history or a tangent, the forward pass is computed
// again from operators, and their gradients are used.
#include "autograd/formulas/rnn.h"

#include "autograd/engine.h"
#include "autograd/formula.h"
#include "autograd/history.h"
#include "gen/ops/activation.h"
#include "gen/ops/arith.h"
#include "gen/ops/explog.h"
#include "gen/ops/matmul.h"
#include "gen/ops/rnn.h"
#include "gen/ops/shape.h"
#include "gen/ops/trig.h"
#include "gen/ops/view.h"
#include "ops/rnn_layer.h"

namespace fb::autograd::formula {

using namespace ops;
using kernel::RnnKind;

namespace {

struct State {
  Tensor h, c;
};

Tensor affine(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Tensor product = ops::matmul(x, ops::t(weight));
  return bias ? product + bias : product;
}

State cell(RnnKind kind, const Tensor& x, const State& before, const RnnWeights& w) {
  const Tensor of_input = affine(x, w.w_ih, w.b_ih), of_state = affine(before.h, w.w_hh, w.b_hh);
  const int64_t n = of_input.size(1) / kernel::weight_columns(kind);
  const auto part = [n](const Tensor& gates, int64_t i) { return ops::narrow(gates, 1, i * n, n); };
  if (kind == RnnKind::kTanh) return {ops::tanh(of_input + of_state), {}};
  if (kind == RnnKind::kRelu) return {ops::relu(of_input + of_state), {}};
  if (kind == RnnKind::kGru) {
    const Tensor r = ops::sigmoid(part(of_input, 0) + part(of_state, 0));
    const Tensor z = ops::sigmoid(part(of_input, 1) + part(of_state, 1));
    const Tensor fresh = ops::tanh(part(of_input, 2) + r * part(of_state, 2));
    return {fresh + z * (before.h - fresh), {}};
  }
  const Tensor gates = of_input + of_state;
  const Tensor c = ops::sigmoid(part(gates, 1)) * before.c +
                   ops::sigmoid(part(gates, 0)) * ops::tanh(part(gates, 2));
  const Tensor h = ops::sigmoid(part(gates, 3)) * ops::tanh(c);
  return {w.w_hr ? ops::matmul(h, ops::t(w.w_hr)) : h, c};
}

// `fresh` for the first samples; the others, which have no such step, keep their state.
Tensor updated(const Tensor& before, const Tensor& fresh) {
  const int64_t n = fresh.size(0), rest = before.size(0) - n;
  if (rest == 0) return fresh;
  return ops::cat(std::array{fresh, ops::narrow(before, 0, n, rest)}, 0);
}

// What one layer computes: outputs, states and, of an LSTM, cells.
std::vector<Tensor> layer(const RnnShape& s, const Tensor& input, const Tensor& hx,
                          const Tensor& cx, TensorList params, bool is_packed, bool batch_first) {
  const auto steps = static_cast<int64_t>(s.active.size());
  const int64_t time = batch_first ? 1 : 0;
  std::vector<Tensor> directions, h, c;
  for (int64_t d = 0; d < s.directions; ++d) {
    const RnnWeights w = rnn_weights(params, d, s.directions);
    State state{ops::select(hx, 0, d), cx ? ops::select(cx, 0, d) : Tensor()};
    std::vector<Tensor> outputs(s.active.size());
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t step = d == 0 ? i : steps - 1 - i;
      const auto at = static_cast<size_t>(step);
      const int64_t n = s.active[at];
      const Tensor x =
          is_packed ? ops::narrow(input, 0, s.start[at], n) : ops::select(input, time, step);
      const State now{ops::narrow(state.h, 0, 0, n),
                      state.c ? ops::narrow(state.c, 0, 0, n) : Tensor()};
      const State next = cell(s.kind, x, now, w);
      outputs[at] = next.h;
      state = {updated(state.h, next.h), state.c ? updated(state.c, next.c) : Tensor()};
    }
    directions.push_back(is_packed ? ops::cat(outputs, 0) : ops::stack(outputs, time));
    h.push_back(state.h);
    if (cx) c.push_back(state.c);
  }
  std::vector<Tensor> results{ops::cat(directions, -1), ops::stack(h, 0)};
  if (cx) results.push_back(ops::stack(c, 0));
  return results;
}

// `t` as a tensor that gradients can be taken of; they still flow on to its history.
Tensor source_of(const Tensor& t) {
  if (requires_grad(t)) return ops::view_as(t, t);
  Tensor leaf = without_history(t);
  set_requires_grad(leaf, true);
  return leaf;
}

// Gradients of what `forward` computes from `inputs`, with their history where one is recorded.
template <class F>
std::vector<Tensor> replayed(const std::vector<Tensor>& inputs, TensorList grads, F&& forward) {
  const bool records = is_recording();
  const GradMode on(true);
  std::vector<Tensor> variables;
  std::vector<Edge> sources, roots;
  for (const Tensor& input : inputs) {
    variables.push_back(input ? source_of(input) : Tensor());
    if (input) sources.push_back(gradient_edge(variables.back()));
  }
  const std::vector<Tensor> outputs = forward(variables);
  std::vector<Tensor> given;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!grads[i]) continue;
    roots.push_back(gradient_edge(outputs[i]));
    given.push_back(grads[i]);
  }
  const std::vector<Tensor> found = backward(
      roots, given, sources, {.keep_graph = true, .create_graph = records, .accumulate = false});
  std::vector<Tensor> result(inputs.size());
  for (size_t i = 0, next = 0; i < inputs.size(); ++i)
    if (inputs[i]) result[i] = found[next++];
  return result;
}

}  // namespace

std::vector<Tensor> rnn_layer_gradients(const Tensor& d_output, const Tensor& d_h,
                                        const Tensor& d_c, const std::string& mode,
                                        const Tensor& input, const Tensor& hx, const Tensor& cx,
                                        const std::vector<Tensor>& params, const Tensor& rows,
                                        const std::optional<Dims>& batch_sizes, bool batch_first,
                                        std::array<bool, 4> needed) {
  std::optional<IntSpan> sizes;
  if (batch_sizes) sizes = IntSpan(*batch_sizes);
  if (!is_differentiated(d_output, d_h, d_c, input, hx, cx, TensorList(params)))
    return ops::rnn_layer_backward(mode, d_output, d_h, d_c, input, hx, cx, params, rows, sizes,
                                   batch_first, needed[0], needed[3]);
  std::vector<Tensor> inputs{input, hx, cx};
  inputs.insert(inputs.end(), params.begin(), params.end());
  const std::array<Tensor, 3> grads{d_output, d_h, cx ? d_c : Tensor()};
  return replayed(inputs, grads, [&](const std::vector<Tensor>& in) {
    const TensorList weights(in.data() + 3, in.size() - 3);
    const RnnShape shape(rnn_kind(mode), in[0], in[1], in[2], weights, sizes, batch_first);
    return layer(shape, in[0], in[1], in[2], weights, sizes.has_value(), batch_first);
  });
}

std::vector<Tensor> rnn_cell_gradients(const Tensor& d_h, const Tensor& d_c,
                                       const std::string& mode, const Tensor& input,
                                       const Tensor& hx, const Tensor& cx, const Tensor& w_ih,
                                       const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh,
                                       const Tensor& gates, std::array<bool, 7> needed) {
  if (!is_differentiated(d_h, d_c, input, hx, cx, w_ih, w_hh, b_ih, b_hh)) {
    const Dims wanted{needed[0], needed[1], needed[2], needed[3], needed[4], needed[5], needed[6]};
    return ops::rnn_cell_backward(mode, d_h, d_c, input, hx, cx, w_ih, w_hh, gates, wanted);
  }
  const std::array<Tensor, 2> grads{d_h, cx ? d_c : Tensor()};
  return replayed(
      {input, hx, cx, w_ih, w_hh, b_ih, b_hh}, grads, [&](const std::vector<Tensor>& in) {
        const auto [h, c] =
            cell(rnn_kind(mode), in[0], {in[1], in[2]}, {in[3], in[4], in[5], in[6], {}});
        return c ? std::vector<Tensor>{h, c} : std::vector<Tensor>{h};
      });
}

}  // namespace fb::autograd::formula
