// One step of a recurrent cell, forwards and backwards.
#include "autograd/deferred.h"
#include "core/device_memory.h"
#include "gen/ops/rnn.h"
#include "kernel/table.h"
#include "ops/output.h"
#include "ops/rnn_layer.h"

namespace fb::ops {
namespace {

using kernel::RnnKind;

struct CellShape : kernel::RnnSizes {
  CellShape(RnnKind kind, const Tensor& input, const Tensor& hx, const Tensor& w_ih)
      : RnnSizes{kind, input.size(0), input.size(1), hx.size(1)} {
    FB_CHECK(w_ih.dim() == 2 && w_ih.size(1) == inputs, "input ", input.sizes(), " has ", inputs,
             " features, weight_ih ", w_ih.sizes(), " expects ", w_ih.size(-1));
  }
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

// Which gradients are wanted, in the order of the arguments.
enum Operand : size_t { kInput, kState, kCell, kWih, kWhh, kBih, kBhh, kOperands };

class Backward {
 public:
  Backward(const CellShape& s, const Tensor& x, const Tensor& h, const Tensor& c,
           const Tensor& w_ih, const Tensor& w_hh, const Tensor& gates, const Tensor& d_h,
           const Tensor& d_c)
      : s_(s),
        type_(gates.dtype()),
        device_(kernel::of(gates)),
        x_(x),
        h_(h),
        w_ih_(w_ih),
        w_hh_(w_hh),
        d_h_(d_h),
        d_c_(d_c) {
    d_gates_ = make_tensor({s.batch, s.gates()}, type_, gates.device());
    device_.rnn_cell_backward({.dtype = type_,
                               .sizes = s,
                               .gates = gates.data(),
                               .c_before = c ? c.data() : nullptr,
                               .h_before = h.data(),
                               .d_gates = d_gates_.data(),
                               .d_h = d_h.data(),
                               .d_c = d_c ? d_c.data() : nullptr});
  }

  std::vector<Tensor> operator()(IntSpan wanted) {
    std::vector<Tensor> result(kOperands);
    if (wanted[kInput]) {
      result[kInput] = make_tensor({s_.batch, s_.inputs}, type_, d_gates_.device());
      product(s_.batch, s_.inputs, s_.weights(), {d(s_.first_input()), s_.gates()},
              {w_ih_.data(), s_.inputs}, result[kInput].data(), false);
    }
    if (wanted[kState]) result[kState] = state_gradient();
    if (wanted[kCell]) result[kCell] = d_c_;
    if (wanted[kWih] && !defers(w_ih_, x_, false)) {
      result[kWih] = make_tensor({s_.weights(), s_.inputs}, type_, d_gates_.device());
      weight_gradient(s_.first_input(), s_.weights(), x_, s_.inputs, result[kWih].data());
    }
    if (wanted[kWhh] && !defers(w_hh_, h_, true)) result[kWhh] = recurrent_gradient();
    if (wanted[kBih]) result[kBih] = input_bias_gradient();
    if (wanted[kBhh]) result[kBhh] = state_bias_gradient();
    return result;
  }

 private:
  // The gradients of gates from column `first` on.
  void* d(int64_t first) const { return element_at(d_gates_, first); }

  void product(int64_t m, int64_t n, int64_t k, kernel::MatrixIn a, kernel::MatrixIn b, void* c,
               bool accumulate) const {
    device_.gemm({type_, 1, m, n, k, a, b, {c, n}, accumulate});
  }

  Tensor state_gradient() {
    const int64_t hidden = s_.hidden;
    void* const out = d_h_.data();
    const void* const w = w_hh_.data();
    if (s_.kind == RnnKind::kGru) {
      product(s_.batch, hidden, 2 * hidden, {d(hidden), s_.gates()}, {w, hidden}, out, true);
      product(s_.batch, hidden, hidden, {d(0), s_.gates()},
              {element_at(w_hh_, 2 * hidden * hidden), hidden}, out, true);
    } else {
      product(s_.batch, hidden, s_.weights(), {d(0), s_.gates()}, {w, hidden}, out, false);
    }
    return d_h_;
  }

  void weight_gradient(int64_t first, int64_t columns, const Tensor& applied_to, int64_t n,
                       void* out) const {
    product(columns, n, s_.batch, {d(first), s_.gates(), true}, {applied_to.data(), n}, out, false);
  }

  Tensor recurrent_gradient() const {
    const int64_t hidden = s_.hidden;
    Tensor result = make_tensor({s_.weights(), hidden}, type_, d_gates_.device());
    void* const out = result.data();
    if (s_.kind == RnnKind::kGru) {
      weight_gradient(hidden, 2 * hidden, h_, hidden, out);
      weight_gradient(0, hidden, h_, hidden, element_at(result, 2 * hidden * hidden));
    } else {
      weight_gradient(0, s_.weights(), h_, hidden, out);
    }
    return result;
  }

  // Whether the gradient of a weight is left to the backward run: see autograd/deferred.h.
  bool defers(const Tensor& weight, const Tensor& applied_to, bool of_state) const {
    const auto [left, right] = autograd::defer_weight_gradient(weight, s_.batch);
    if (!left) return false;
    device_.rnn_order_gates(type_, s_, d_gates_.data(), of_state, left);
    const auto elements = static_cast<size_t>(applied_to.numel());
    copy_bytes(applied_to.device(), right, applied_to.data(), elements * applied_to.element_size());
    return true;
  }

  // Sums over the batch of `columns` gates.
  void add_up(int64_t first, int64_t columns, void* out) const {
    device_.rnn_sum_rows(type_, d(first), s_.batch, s_.gates(), columns, out);
  }

  Tensor input_bias_gradient() const {
    Tensor result = make_tensor({s_.weights()}, type_, d_gates_.device());
    add_up(s_.first_input(), s_.weights(), result.data());
    return result;
  }

  Tensor state_bias_gradient() const {
    Tensor result = make_tensor({s_.weights()}, type_, d_gates_.device());
    const int64_t first = s_.first_input();
    add_up(first, s_.weights() - first, result.data());
    add_up(0, first, element_at(result, s_.weights() - first));
    return result;
  }

  const CellShape& s_;
  DType type_;
  const kernel::Table& device_;
  const Tensor &x_, &h_, &w_ih_, &w_hh_;
  Tensor d_h_, d_c_, d_gates_;
};

Tensor running(const Tensor& grad, const CellShape& s, DType type, Device device) {
  if (grad) return copy_contiguous(cast(grad, type));
  Tensor zeros = make_tensor({s.batch, s.hidden}, type, device);
  kernel::of(zeros).fill(zeros, 0.0);
  return zeros;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> compute::rnn_cell(const std::string& mode, const Tensor& input,
                                                     const Tensor& hx, const Tensor& cx,
                                                     const Tensor& w_ih, const Tensor& w_hh,
                                                     const Tensor& b_ih, const Tensor& b_hh) {
  check_dims(input, hx);
  const CellShape s(rnn_kind(mode), input, hx, w_ih);
  check_arguments(s, input, hx, cx, w_ih, w_hh, b_ih, b_hh);
  const DType type = compute_type(input.dtype());
  const Tensor gates = make_tensor({s.batch, s.gates()}, type, input.device());
  const Tensor h = copy_contiguous(cast(hx, type));
  const Tensor c = cx ? copy_contiguous(cast(cx, type)) : make_tensor({0}, type, input.device());
  const Tensor x = rnn_operand(input, type);
  const RnnWeights weights = RnnWeights{w_ih, w_hh, b_ih, b_hh, {}}.contiguous_as(type);
  kernel::of(gates).rnn_cell_forward({.dtype = type,
                                      .sizes = s,
                                      .parameters = weights.parameters(),
                                      .input = x.data(),
                                      .gates = gates.data(),
                                      .h = h.data(),
                                      .c = c.numel() ? c.data() : nullptr});
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
  Backward backward(s, x, h, c, w_i, w_h, gates, running(d_h, s, type, gates.device()),
                    cx ? running(d_c, s, type, gates.device()) : Tensor());
  return backward(wanted);
}

}  // namespace fb::ops
