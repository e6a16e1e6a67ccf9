// One layer of a recurrent network, forwards.
#include "ops/rnn_layer.h"

#include <cstring>

#include "cpu/gemm.h"
#include "cpu/packed_gemm.h"
#include "cpu/rnn_parallel.h"
#include "gen/ops/rnn.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

using cpu::RnnKind;

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

template <class T>
void input_share(const RnnShape& s, const RnnWeights& w, const Tensor& input, T* rows,
                 int64_t row) {
  const std::vector<T> bias = joint_bias<T>(s.kind, s.hidden, w.b_ih, w.b_hh);
  cpu::gemm({.dtype = input.dtype(),
             .batch = 1,
             .m = s.rows,
             .n = s.weights(),
             .k = s.inputs,
             .a = {input.data(), s.inputs},
             .b = {w.w_ih.data(), s.inputs, true},
             .c = {rows + s.first_input(), row},
             .bias = bias.empty() ? nullptr : bias.data()});
}

// The results of a layer, and what the kernel needs besides.
template <class T>
class Forward {
 public:
  Forward(const RnnShape& s, const Tensor& input, const Tensor& hx, const Tensor& cx,
          TensorList params, bool keep)
      : s_(s),
        type_(input.dtype()),
        keep_(keep),
        row_(RnnShape::apart_in_memory(keep ? s.kept_row() : s.gates())) {
    Dims sizes = input.sizes().vec();
    sizes.back() = s.directions * s.outputs;
    out_ = make_tensor(sizes, type_, input.device());
    h_ = copy_contiguous(hx);
    c_ = s.has_cells() ? copy_contiguous(cx) : make_tensor({0}, type_, input.device());
    rows_ = make_tensor({s.directions, s.rows, row_}, type_, input.device());
    for (int64_t d = 0; d < s.directions; ++d) {
      RnnWeights w = rnn_weights(params, d, s.directions);
      for (Tensor* t : {&w.w_ih, &w.w_hh, &w.b_ih, &w.b_hh, &w.w_hr}) *t = rnn_operand(*t, type_);
      input_share<T>(s, w, input, rows_of(d), row_);
      calls_.push_back(direction(d, w));
      weights_.push_back(std::move(w));
    }
  }

  std::tuple<Tensor, Tensor, Tensor, Tensor> operator()() {
    const int64_t work = s_.weights() * s_.outputs;
    cpu::for_sequences(s_.steps(), s_.rows, s_.directions, work,
                       [&](int64_t d, int64_t first, int64_t last) {
                         FB_KERNEL(rnn_forward<T>)(calls_[static_cast<size_t>(d)], first, last);
                       });
    return {out_, h_, c_, keep_ ? rows_ : make_tensor({0}, type_, out_.device())};
  }

 private:
  T* rows_of(int64_t d) const { return rows_.data_as<T>() + d * s_.rows * row_; }

  T* room(int64_t elements) {
    room_.push_back(make_tensor({elements}, type_, out_.device()));
    return room_.back().data_as<T>();
  }

  const T* packed_recurrent(const Tensor& w_hh) {
    T* packed = room(cpu::packed_elements(s_.outputs, s_.weights()));
    const T* from = w_hh.data_as<T>();
    if (s_.kind == RnnKind::kGru) {  // n goes first
      T* ordered = room(s_.weights() * s_.outputs);
      const int64_t gate = s_.hidden * s_.outputs;
      std::memcpy(ordered, from + 2 * gate, static_cast<size_t>(gate) * sizeof(T));
      std::memcpy(ordered + gate, from, static_cast<size_t>(2 * gate) * sizeof(T));
      from = ordered;
    }
    FB_KERNEL(pack_matrix<T>)({s_.outputs, s_.weights(), from, s_.outputs, true}, packed);
    return packed;
  }

  cpu::RnnForward<T> direction(int64_t d, const RnnWeights& w) {
    cpu::RnnForward<T> f{};
    f.kind = s_.kind;
    f.steps = s_.steps();
    f.reverse = d == 1;
    f.hidden = s_.hidden;
    f.outputs = s_.outputs;
    f.rows = rows_of(d);
    f.row = row_;
    f.keep = keep_;
    f.recurrent = packed_recurrent(w.w_hh);
    if (w.w_hr) {
      T* packed = room(cpu::packed_elements(s_.hidden, s_.outputs));
      FB_KERNEL(pack_matrix<T>)
      ({s_.hidden, s_.outputs, w.w_hr.data_as<T>(), s_.hidden, true}, packed);
      f.projection = packed;
      f.unprojected = room(s_.batch * s_.hidden);
    }
    if (s_.kind == RnnKind::kGru && w.b_hh) f.state_bias = w.b_hh.data_as<T>() + 2 * s_.hidden;
    f.h = h_.data_as<T>() + d * s_.batch * s_.outputs;
    if (s_.has_cells()) f.c = c_.data_as<T>() + d * s_.batch * s_.hidden;
    f.out = out_.data_as<T>() + d * s_.outputs;
    f.out_row = s_.directions * s_.outputs;
    return f;
  }

  const RnnShape& s_;
  DType type_;
  bool keep_;
  int64_t row_;
  Tensor out_, h_, c_, rows_;
  std::vector<RnnWeights> weights_;
  std::vector<Tensor> room_;
  std::vector<cpu::RnnForward<T>> calls_;
};

}  // namespace

void check_rnn_dtype(DType dtype) {
  FB_CHECK_AS(ErrorKind::kNotImplemented, is_floating(dtype), "not implemented for dtype ", dtype);
}

Tensor rnn_operand(const Tensor& t, DType type) { return t ? contiguous(cast(t, type)) : t; }

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

RnnShape::RnnShape(RnnKind kind, const Tensor& input, const Tensor& hx, const Tensor& cx,
                   TensorList params, std::optional<IntSpan> batch_sizes, bool batch_first)
    : kind(kind) {
  check_rnn_dtype(input.dtype());
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
  auto [out, h, c, rows] = visit_floating(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Forward<T>(shape, rnn_operand(input, type), rnn_operand(hx, type), rnn_operand(cx, type),
                      params, keep)();
  });
  return {cast(out, input.dtype()), cast(h, input.dtype()), cast(c, input.dtype()), rows};
}

}  // namespace fb::ops
