// One step of a recurrent cell, forwards and backwards.
#include "autograd/deferred.h"
#include "cpu/copy.h"
#include "cpu/gemm.h"
#include "cpu/packed_gemm.h"
#include "cpu/threads.h"
#include "gen/ops/rnn.h"
#include "ops/output.h"
#include "ops/rnn_layer.h"

namespace fb::ops {
namespace {

using cpu::RnnKind;

// Up to so many samples reading the weights as they are beats a library, which packs them first.
constexpr int64_t kFewSamples = 16;

struct CellShape {
  RnnKind kind;
  int64_t batch, inputs, hidden;

  CellShape(RnnKind kind, const Tensor& input, const Tensor& hx, const Tensor& w_ih)
      : kind(kind), batch(input.size(0)), inputs(input.size(1)), hidden(hx.size(1)) {
    FB_CHECK(w_ih.dim() == 2 && w_ih.size(1) == inputs, "input ", input.sizes(), " has ", inputs,
             " features, weight_ih ", w_ih.sizes(), " expects ", w_ih.size(-1));
  }
  int64_t gates() const { return cpu::gate_columns(kind) * hidden; }
  int64_t weights() const { return cpu::weight_columns(kind) * hidden; }
  int64_t first_input() const { return cpu::first_input_column(kind) * hidden; }
};

// IndexError where a dimension is missing, as PyTorch raises.
void check_dims(const Tensor& input, const Tensor& hx) {
  FB_CHECK_INDEX(input.dim() >= 2, "expected an input of 2 dimensions, got ", input.sizes());
  FB_CHECK_INDEX(hx.dim() >= 1, "expected a hidden state of 2 dimensions, got ", hx.sizes());
  FB_CHECK(input.size(0) == hx.size(0), "input has batch size ", input.size(0), ", hidden state ",
           hx.sizes(), " has ", hx.size(0));
  FB_CHECK_INDEX(hx.dim() >= 2, "expected a hidden state of 2 dimensions, got ", hx.sizes());
  FB_CHECK(input.dim() == 2 && hx.dim() == 2, "expected an input and a state of 2 dimensions, got ",
           input.sizes(), " and ", hx.sizes());
}

void check_arguments(const CellShape& s, const Tensor& input, const Tensor& hx, const Tensor& cx,
                     const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                     const Tensor& b_hh) {
  const auto check = [](const Tensor& t, IntSpan expected, const char* name) {
    FB_CHECK(t.sizes() == expected, "expected ", name, " of shape ", expected, ", got ", t.sizes());
  };
  check(w_ih, {s.weights(), s.inputs}, "weight_ih");
  check(w_hh, {s.weights(), s.hidden}, "weight_hh");
  if (s.kind == RnnKind::kLstm) check(cx, {s.batch, s.hidden}, "cell state");
  if (b_ih) check(b_ih, {s.weights()}, "bias_ih");
  if (b_hh) check(b_hh, {s.weights()}, "bias_hh");
  for (const Tensor* t : {&hx, &w_ih, &w_hh})
    FB_CHECK(t->dtype() == input.dtype(), "input is ", input.dtype(), ", but a state or weight ",
             t->dtype());
}

// n columns of C from `a` (rows of k) and n rows of weights.
template <class T>
void add_share(int64_t m, int64_t n, int64_t k, const T* a, const T* w, const T* bias, T* c,
               int64_t c_row, bool accumulate) {
  if (m <= kFewSamples) {
    const int64_t grain = std::max<int64_t>(4 * cpu::kGrain / (m * k + 1), 64);
    cpu::parallel_for(n, grain, [&](int64_t begin, int64_t end) {
      FB_KERNEL(dot_products<T>)
      ({m, end - begin, k, a, k, w + begin * k, c + begin, c_row, bias ? bias + begin : nullptr,
        accumulate});
    });
    return;
  }
  cpu::gemm({.dtype = std::is_same_v<T, float> ? DType::kFloat32 : DType::kFloat64,
             .batch = 1,
             .m = m,
             .n = n,
             .k = k,
             .a = {a, k},
             .b = {w, k, true},
             .c = {c, c_row},
             .accumulate = accumulate,
             .bias = bias});
}

template <class T>
void forward(const CellShape& s, const Tensor& x, const Tensor& h, const Tensor& w_ih,
             const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh, const Tensor& gates,
             const Tensor& new_h, const Tensor& new_c) {
  const std::vector<T> biases = joint_bias<T>(s.kind, s.hidden, b_ih, b_hh);
  T* const rows = gates.data_as<T>();
  const int64_t row = s.gates(), hidden = s.hidden;
  const T* const state = h.data_as<T>();
  const T* const recurrent = w_hh.data_as<T>();
  add_share<T>(s.batch, s.weights(), s.inputs, x.data_as<T>(), w_ih.data_as<T>(),
               biases.empty() ? nullptr : biases.data(), rows + s.first_input(), row, false);
  if (s.kind == RnnKind::kGru) {
    add_share<T>(s.batch, 2 * hidden, hidden, state, recurrent, nullptr, rows + hidden, row, true);
    const T* const bias = b_hh ? b_hh.data_as<T>() + 2 * hidden : nullptr;
    add_share<T>(s.batch, hidden, hidden, state, recurrent + 2 * hidden * hidden, bias, rows, row,
                 false);
  } else {
    add_share<T>(s.batch, s.weights(), hidden, state, recurrent, nullptr, rows, row, true);
  }
  T* const c = new_c.numel() ? new_c.data_as<T>() : nullptr;
  FB_KERNEL(rnn_gates<T>)
  ({s.kind, s.batch, hidden, rows, row, new_h.data_as<T>(), c, nullptr, 0});
}

// Which gradients are wanted, in the order of the arguments.
enum Place : size_t { kInput, kState, kCell, kWih, kWhh, kBih, kBhh, kPlaces };

template <class T>
class Backward {
 public:
  Backward(const CellShape& s, const Tensor& x, const Tensor& h, const Tensor& c,
           const Tensor& w_ih, const Tensor& w_hh, const Tensor& gates, const Tensor& d_h,
           const Tensor& d_c)
      : s_(s), type_(gates.dtype()), x_(x), h_(h), w_ih_(w_ih), w_hh_(w_hh), d_h_(d_h), d_c_(d_c) {
    d_gates_ = make_tensor({s.batch, s.gates()}, type_, gates.device());
    FB_KERNEL(rnn_gates_backward<T>)
    ({s.kind, s.batch, s.hidden, gates.data_as<T>(), s.gates(), c ? c.data_as<T>() : nullptr,
      h.data_as<T>(), s.hidden, s.hidden, d(), s.gates(), d_h.data_as<T>(),
      d_c ? d_c.data_as<T>() : nullptr, nullptr, 0});
  }

  std::vector<Tensor> operator()(IntSpan wanted) {
    std::vector<Tensor> result(kPlaces);
    if (wanted[kInput]) {
      result[kInput] = make_tensor({s_.batch, s_.inputs}, type_, d_gates_.device());
      product(s_.batch, s_.inputs, s_.weights(), {d() + s_.first_input(), s_.gates()},
              {w_ih_.data(), s_.inputs}, result[kInput].data_as<T>(), false);
    }
    if (wanted[kState]) result[kState] = state_gradient();
    if (wanted[kCell]) result[kCell] = d_c_;
    if (wanted[kWih] && !defers(w_ih_, x_, false)) {
      result[kWih] = make_tensor({s_.weights(), s_.inputs}, type_, d_gates_.device());
      weight_gradient(s_.first_input(), s_.weights(), x_, s_.inputs, result[kWih].data_as<T>());
    }
    if (wanted[kWhh] && !defers(w_hh_, h_, true)) result[kWhh] = recurrent_gradient();
    if (wanted[kBih]) result[kBih] = input_bias_gradient();
    if (wanted[kBhh]) result[kBhh] = state_bias_gradient();
    return result;
  }

 private:
  T* d() const { return d_gates_.data_as<T>(); }

  void product(int64_t m, int64_t n, int64_t k, cpu::MatrixIn a, cpu::MatrixIn b, T* c,
               bool accumulate) const {
    cpu::gemm({type_, 1, m, n, k, a, b, {c, n}, accumulate});
  }

  Tensor state_gradient() {
    const int64_t hidden = s_.hidden;
    T* const out = d_h_.data_as<T>();
    const T* const w = w_hh_.data_as<T>();
    if (s_.kind == RnnKind::kGru) {
      product(s_.batch, hidden, 2 * hidden, {d() + hidden, s_.gates()}, {w, hidden}, out, true);
      product(s_.batch, hidden, hidden, {d(), s_.gates()}, {w + 2 * hidden * hidden, hidden}, out,
              true);
    } else {
      product(s_.batch, hidden, s_.weights(), {d(), s_.gates()}, {w, hidden}, out, false);
    }
    return d_h_;
  }

  void weight_gradient(int64_t first, int64_t columns, const Tensor& applied_to, int64_t n,
                       T* out) const {
    product(columns, n, s_.batch, {d() + first, s_.gates(), true}, {applied_to.data(), n}, out,
            false);
  }

  Tensor recurrent_gradient() const {
    const int64_t hidden = s_.hidden;
    Tensor result = make_tensor({s_.weights(), hidden}, type_, d_gates_.device());
    T* const out = result.data_as<T>();
    if (s_.kind == RnnKind::kGru) {
      weight_gradient(hidden, 2 * hidden, h_, hidden, out);
      weight_gradient(0, hidden, h_, hidden, out + 2 * hidden * hidden);
    } else {
      weight_gradient(0, s_.weights(), h_, hidden, out);
    }
    return result;
  }

  // The gates' gradients of sample b in the order of a weight's rows: the input's, or the state's.
  void ordered_gates(int64_t b, bool of_state, T* out) const {
    const T* const from = d() + b * s_.gates();
    const int64_t first = s_.first_input(), shared = s_.weights() - first;
    std::copy(from + first, from + first + shared, out);
    const T* const rest = of_state ? from : from + first + shared;
    std::copy(rest, rest + first, out + shared);
  }

  // Whether the gradient of a weight is left to the run that this is part of.
  bool defers(const Tensor& weight, const Tensor& applied_to, bool of_state) const {
    const auto [left, right] = autograd::defer_weight_gradient(weight, s_.batch);
    if (!left) return false;
    for (int64_t b = 0; b < s_.batch; ++b)
      ordered_gates(b, of_state, static_cast<T*>(left) + b * s_.weights());
    std::copy_n(applied_to.data_as<T>(), applied_to.numel(), static_cast<T*>(right));
    return true;
  }

  // Sums over the batch of `columns` gates.
  void add_up(int64_t first, int64_t columns, T* out) const {
    std::fill_n(out, columns, T(0));
    for (int64_t b = 0; b < s_.batch; ++b) {
      const T* from = d() + b * s_.gates() + first;
      for (int64_t j = 0; j < columns; ++j) out[j] += from[j];
    }
  }

  Tensor input_bias_gradient() const {
    Tensor result = make_tensor({s_.weights()}, type_, d_gates_.device());
    add_up(s_.first_input(), s_.weights(), result.data_as<T>());
    return result;
  }

  Tensor state_bias_gradient() const {
    Tensor result = make_tensor({s_.weights()}, type_, d_gates_.device());
    const int64_t first = s_.first_input();
    add_up(first, s_.weights() - first, result.data_as<T>());
    add_up(0, first, result.data_as<T>() + s_.weights() - first);
    return result;
  }

  const CellShape& s_;
  DType type_;
  const Tensor &x_, &h_, &w_ih_, &w_hh_;
  Tensor d_h_, d_c_, d_gates_;
};

Tensor running(const Tensor& grad, const CellShape& s, DType type, Device device) {
  if (grad) return copy_contiguous(cast(grad, type));
  Tensor zeros = make_tensor({s.batch, s.hidden}, type, device);
  cpu::fill(zeros, 0.0);
  return zeros;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> compute::rnn_cell(const std::string& mode, const Tensor& input,
                                                     const Tensor& hx, const Tensor& cx,
                                                     const Tensor& w_ih, const Tensor& w_hh,
                                                     const Tensor& b_ih, const Tensor& b_hh) {
  check_dims(input, hx);
  check_rnn_dtype(input.dtype());
  const CellShape s(rnn_kind(mode), input, hx, w_ih);
  check_arguments(s, input, hx, cx, w_ih, w_hh, b_ih, b_hh);
  const DType type = compute_type(input.dtype());
  const Tensor state = rnn_operand(hx, type);
  const Tensor gates = make_tensor({s.batch, s.gates()}, type, input.device());
  const Tensor h = copy_contiguous(state);
  const Tensor c = cx ? copy_contiguous(cast(cx, type)) : make_tensor({0}, type, input.device());
  visit_floating(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    forward<T>(s, rnn_operand(input, type), state, rnn_operand(w_ih, type), rnn_operand(w_hh, type),
               rnn_operand(b_ih, type), rnn_operand(b_hh, type), gates, h, c);
  });
  return {cast(h, input.dtype()), cast(c, input.dtype()), gates};
}

std::vector<Tensor> compute::rnn_cell_backward(const std::string& mode, const Tensor& d_h,
                                               const Tensor& d_c, const Tensor& input,
                                               const Tensor& hx, const Tensor& cx,
                                               const Tensor& w_ih, const Tensor& w_hh,
                                               const Tensor& gates, IntSpan wanted) {
  const CellShape s(rnn_kind(mode), input, hx, w_ih);
  const DType type = gates.dtype();
  const Tensor x = rnn_operand(input, type), h = rnn_operand(hx, type), c = rnn_operand(cx, type);
  const Tensor w_i = rnn_operand(w_ih, type), w_h = rnn_operand(w_hh, type);
  return visit_floating(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Backward<T> backward(s, x, h, c, w_i, w_h, gates, running(d_h, s, type, gates.device()),
                         cx ? running(d_c, s, type, gates.device()) : Tensor());
    return backward(wanted);
  });
}

}  // namespace fb::ops
