// One layer of a recurrent network, forwards.
#include "ops/rnn_layer.h"

#include "gen/ops/rnn.h"
#include "kernel/table.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

using kernel::RnnKind;

void check_shape(const Tensor& t, IntSpan expected, const char* name) {
  FB_CHECK(t.sizes() == expected, "expected ", name, " of shape ", expected, ", got ", t.sizes());
}

void check_weights(const RnnShape& s, const RnnWeights& w) {
  FB_CHECK(w.w_ih.dim() == 2 && w.w_hh.dim() == 2, "weights must be matrices, got ", w.w_ih.sizes(),
           " and ", w.w_hh.sizes());
  FB_CHECK(w.w_ih.size(1) == s.inputs, "input has ", s.inputs, " features, weight_ih ",
           w.w_ih.sizes(), " expects ", w.w_ih.size(1));
  check_shape(w.w_ih, {s.weights(), s.inputs}, "weight_ih");
  check_shape(w.w_hh, {s.weights(), s.outputs}, "weight_hh");
  if (w.b_ih) check_shape(w.b_ih, {s.weights()}, "bias_ih");
  if (w.b_hh) check_shape(w.b_hh, {s.weights()}, "bias_hh");
  if (w.w_hr) check_shape(w.w_hr, {s.outputs, s.hidden}, "weight_hr");
}

std::tuple<Tensor, Tensor, Tensor, Tensor> forward(const RnnShape& s, const Tensor& input,
                                                   const Tensor& hx, const Tensor& cx,
                                                   TensorList params, bool keep) {
  const DType type = input.dtype();
  const Device device = input.device();
  Dims sizes = input.sizes().vec();
  sizes.back() = s.directions * s.outputs;
  const Tensor out = make_tensor(sizes, type, device);
  const Tensor h = copy_contiguous(hx);
  const Tensor c = s.has_cells() ? copy_contiguous(cx) : make_tensor({0}, type, device);
  const int64_t row = RnnShape::apart_in_memory(keep ? s.kept_row() : s.gates());
  const Tensor rows = make_tensor({s.directions, s.rows, row}, type, device);
  const RnnDirections directions(params, s.directions, type);
  kernel::of(input).rnn_layer_forward({.dtype = type,
                                       .sizes = s,
                                       .steps = s.steps(),
                                       .parameters = directions.parameters.data(),
                                       .input = input.data(),
                                       .rows = rows.data(),
                                       .row = row,
                                       .keep = keep,
                                       .h = h.data(),
                                       .c = s.has_cells() ? c.data() : nullptr,
                                       .out = out.data()});
  return {out, h, c, keep ? rows : make_tensor({0}, type, device)};
}

}  // namespace

Tensor rnn_operand(const Tensor& t, DType type) { return t ? contiguous(cast(t, type)) : t; }

RnnWeights RnnWeights::contiguous_as(DType type) const {
  return {rnn_operand(w_ih, type), rnn_operand(w_hh, type), rnn_operand(b_ih, type),
          rnn_operand(b_hh, type), rnn_operand(w_hr, type)};
}

kernel::RnnParameters RnnWeights::parameters() const {
  const auto address = [](const Tensor& t) -> const void* { return t ? t.data() : nullptr; };
  return {address(w_ih), address(w_hh), address(b_ih), address(b_hh), address(w_hr)};
}

RnnKind rnn_kind(const std::string& mode) {
  if (mode == "LSTM") return RnnKind::kLstm;
  if (mode == "GRU") return RnnKind::kGru;
  if (mode == "RNN_TANH") return RnnKind::kTanh;
  FB_CHECK_VALUE(mode == "RNN_RELU", "unknown mode '", mode, "'");
  return RnnKind::kRelu;
}

RnnWeights rnn_weights(TensorList params, int64_t direction, int64_t directions) {
  const size_t each = params.size() / static_cast<size_t>(directions);
  FB_CHECK(each >= 2 && each <= 5 && each * static_cast<size_t>(directions) == params.size(),
           "a layer of ", directions, " directions takes 2 to 5 parameters for each, got ",
           params.size());
  const TensorList own = params.subspan(static_cast<size_t>(direction) * each, each);
  RnnWeights w{own[0], own[1], {}, {}, {}};
  if (each >= 4) {
    w.b_ih = own[2];
    w.b_hh = own[3];
  }
  if (each % 2 == 1) w.w_hr = own.back();
  return w;
}

RnnDirections::RnnDirections(TensorList params, int64_t directions, DType type) {
  for (int64_t d = 0; d < directions; ++d) {
    weights.push_back(rnn_weights(params, d, directions).contiguous_as(type));
    parameters.push_back(weights.back().parameters());
  }
}

RnnShape::RnnShape(RnnKind kind, const Tensor& input, const Tensor& hx, const Tensor& cx,
                   TensorList params, std::optional<IntSpan> batch_sizes, bool batch_first) {
  this->kind = kind;
  FB_CHECK(input.dim() == (batch_sizes ? 2 : 3), "expected an input of ", batch_sizes ? 2 : 3,
           " dimensions, got ", input.sizes());
  FB_CHECK(hx.dim() == 3, "expected a hidden state of 3 dimensions, got ", hx.sizes());
  directions = hx.size(0);
  inputs = input.size(-1);
  outputs = hx.size(2);
  hidden = has_cells() ? cx.size(-1) : outputs;
  if (batch_sizes) {
    active.assign(batch_sizes->begin(), batch_sizes->end());
    batch = active.empty() ? 0 : active[0];
    apart = 1;
  } else {
    batch = input.size(batch_first ? 0 : 1);
    active.assign(static_cast<size_t>(input.size(batch_first ? 1 : 0)), batch);
    apart = batch_first ? static_cast<int64_t>(active.size()) : 1;
  }
  FB_CHECK(!active.empty(), "expected sequence length to be larger than 0");
  rows = 0;
  for (const int64_t n : active) {
    start.push_back(batch_first ? static_cast<int64_t>(start.size()) : rows);
    rows += n;
  }
  FB_CHECK(!batch_sizes || rows == input.size(0), "batch_sizes add up to ", rows, ", data has ",
           input.size(0), " rows");
  check_shape(hx, {directions, batch, outputs}, "hidden state");
  if (has_cells()) check_shape(cx, {directions, batch, hidden}, "cell state");
  for (int64_t d = 0; d < directions; ++d) check_weights(*this, rnn_weights(params, d, directions));
}

std::tuple<Tensor, Tensor, Tensor, Tensor> compute::rnn_layer(const std::string& mode,
                                                              const Tensor& input, const Tensor& hx,
                                                              const Tensor& cx, TensorList params,
                                                              std::optional<IntSpan> batch_sizes,
                                                              bool batch_first, bool keep) {
  const RnnShape shape(rnn_kind(mode), input, hx, cx, params, batch_sizes, batch_first);
  const DType type = compute_type(input.dtype());
  auto [out, h, c, rows] = forward(shape, rnn_operand(input, type), rnn_operand(hx, type),
                                   rnn_operand(cx, type), params, keep);
  return {cast(out, input.dtype()), cast(h, input.dtype()), cast(c, input.dtype()), rows};
}

}  // namespace fb::ops
