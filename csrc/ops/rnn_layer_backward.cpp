// One layer of a recurrent network, backwards.
#include "cpu/copy.h"
#include "cpu/gemm.h"
#include "cpu/packed_gemm.h"
#include "cpu/rnn_parallel.h"
#include "gen/ops/reduce.h"
#include "gen/ops/rnn.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"
#include "ops/output.h"
#include "ops/rnn_layer.h"

namespace fb::ops {
namespace {

using cpu::RnnKind;

// A gradient that is changed step by step: zeros where none came.
Tensor running(const Tensor& grad, IntSpan sizes, DType type, Device device) {
  if (grad) return copy_contiguous(cast(grad, type));
  Tensor zeros = make_tensor(sizes, type, device);
  cpu::fill(zeros, 0.0);
  return zeros;
}

// Which gradients are wanted.
struct Wanted {
  bool input, params;
};

template <class T>
class Backward {
 public:
  Backward(const RnnShape& s, const Tensor& input, TensorList params, const Tensor& rows,
           const Tensor& d_out, const Tensor& d_h, const Tensor& d_c, Wanted wanted)
      : s_(s), type_(input.dtype()), wanted_(wanted), input_(input), rows_(rows), d_out_(d_out) {
    d_h_ = running(d_h, Dims{s.directions, s.batch, s.outputs}, type_, input.device());
    if (s.has_cells())
      d_c_ = running(d_c, Dims{s.directions, s.batch, s.hidden}, type_, input.device());
    if (wanted.input) d_input_ = make_like(input, type_);
    for (int64_t d = 0; d < s.directions; ++d) {
      weights_.push_back(rnn_weights(params, d, s.directions));
      for (Tensor* t : {&weights_.back().w_ih, &weights_.back().w_hh, &weights_.back().w_hr})
        if (*t) *t = contiguous(cast(*t, type_));
      calls_.push_back(direction(d));
    }
  }

  // Of the input, the states and the parameters.
  std::vector<Tensor> operator()() {
    const int64_t work = s_.weights() * s_.outputs;
    cpu::for_sequences(s_.steps(), s_.rows, s_.directions, work,
                       [&](int64_t d, int64_t first, int64_t last) {
                         FB_KERNEL(rnn_backward<T>)(calls_[static_cast<size_t>(d)], first, last);
                       });
    std::vector<Tensor> gradients{d_input_, d_h_, d_c_};
    for (size_t d = 0; d < calls_.size(); ++d) {
      if (wanted_.input) add_input_gradient(d);
      add_parameter_gradients(d, gradients);
    }
    return gradients;
  }

 private:
  T* room(int64_t rows, int64_t columns) {
    room_.push_back(make_tensor({rows, columns}, type_, input_.device()));
    return room_.back().data_as<T>();
  }

  const T* packed(int64_t k, int64_t n, const T* from) {
    T* to = room(1, cpu::packed_elements(k, n));
    FB_KERNEL(pack_matrix<T>)({k, n, from, n, false}, to);
    return to;
  }

  const T* packed_recurrent(const Tensor& w_hh) {
    const T* from = w_hh.data_as<T>();
    if (s_.kind != RnnKind::kGru) return packed(s_.weights(), s_.outputs, from);
    const int64_t gate = s_.hidden * s_.outputs;
    T* ordered = room(s_.weights(), s_.outputs);  // n goes first
    std::copy(from + 2 * gate, from + 3 * gate, ordered);
    std::copy(from, from + 2 * gate, ordered + gate);
    return packed(s_.weights(), s_.outputs, ordered);
  }

  cpu::RnnBackward<T> direction(int64_t d) {
    const RnnWeights& w = weights_.back();
    cpu::RnnBackward<T> b{};
    b.kind = s_.kind;
    b.steps = s_.steps();
    b.reverse = d == 1;
    b.hidden = s_.hidden;
    b.outputs = s_.outputs;
    b.row = RnnShape::apart_in_memory(s_.kept_row());
    b.rows = rows_.data_as<T>() + d * s_.rows * b.row;
    b.recurrent = packed_recurrent(w.w_hh);
    if (d_out_) {
      b.d_out_row = s_.directions * s_.outputs;
      b.d_out = d_out_.data_as<T>() + d * s_.outputs;
    }
    b.d_h = d_h_.data_as<T>() + d * s_.batch * s_.outputs;
    if (d_c_) b.d_c = d_c_.data_as<T>() + d * s_.batch * s_.hidden;
    b.d_gates_row = RnnShape::apart_in_memory(s_.gates());
    d_gates_.push_back(make_tensor({s_.rows, b.d_gates_row}, type_, input_.device()));
    b.d_gates = d_gates_.back().template data_as<T>();
    if (w.w_hr) {
      b.projection = packed(s_.outputs, s_.hidden, w.w_hr.data_as<T>());
      b.d_projected = room(s_.rows, s_.outputs);
      b.unprojected = room(s_.rows, s_.hidden);
      b.d_unprojected = room(s_.batch, s_.hidden);
    }
    return b;
  }

  // C (+)= A B, with contiguous C.
  void product(int64_t m, int64_t n, int64_t k, cpu::MatrixIn a, cpu::MatrixIn b, T* c,
               bool accumulate = false) const {
    cpu::gemm({type_, 1, m, n, k, a, b, {c, n}, accumulate});
  }

  // The gradients of a direction's gates from column `first` on.
  cpu::MatrixIn d_gates(size_t d, int64_t first, bool transposed = false) const {
    return {calls_[d].d_gates + first, calls_[d].d_gates_row, transposed};
  }

  void add_input_gradient(size_t d) {
    product(s_.rows, s_.inputs, s_.weights(), d_gates(d, s_.first_input()),
            {weights_[d].w_ih.data(), s_.inputs}, d_input_.data_as<T>(), d > 0);
  }

  // The gradient of a weight is that of what it makes, transposed, times what it is applied to.
  Tensor weight_gradient(int64_t first, int64_t columns, size_t d, cpu::MatrixIn applied_to,
                         int64_t n) const {
    Tensor result = make_tensor({columns, n}, type_, input_.device());
    product(columns, n, s_.rows, d_gates(d, first, true), applied_to, result.data_as<T>());
    return result;
  }

  Tensor recurrent_gradient(size_t d) const {
    const int64_t before = s_.kept_row() - s_.outputs;
    const cpu::MatrixIn h{calls_[d].rows + before, calls_[d].row};
    if (s_.kind != RnnKind::kGru) return weight_gradient(0, s_.weights(), d, h, s_.outputs);
    // Rows are s, r, z; weights r, z, n.
    Tensor result = make_tensor({s_.weights(), s_.outputs}, type_, input_.device());
    const auto of = [&](int64_t from, int64_t gates, int64_t to) {
      product(gates * s_.hidden, s_.outputs, s_.rows, d_gates(d, from * s_.hidden, true), h,
              result.data_as<T>() + to * s_.hidden * s_.outputs);
    };
    of(1, 2, 0);
    of(0, 1, 2);
    return result;
  }

  void add_parameter_gradients(size_t d, std::vector<Tensor>& gradients) const {
    const RnnWeights& w = weights_[d];
    if (!wanted_.params) {
      const size_t count = 2 + (w.b_ih ? 2 : 0) + (w.w_hr ? 1 : 0);
      gradients.resize(gradients.size() + count);
      return;
    }
    gradients.push_back(
        weight_gradient(s_.first_input(), s_.weights(), d, {input_.data(), s_.inputs}, s_.inputs));
    gradients.push_back(recurrent_gradient(d));
    if (w.b_ih) {
      const Tensor sums = sum(narrow(d_gates_[d], 1, 0, s_.gates()), Dims{0}, false, {});
      gradients.push_back(copy_contiguous(narrow(sums, 0, s_.first_input(), s_.weights())));
      const Tensor reset = narrow(sums, 0, s_.first_input(), s_.weights() - s_.first_input());
      const Tensor fresh = narrow(sums, 0, 0, s_.first_input());
      gradients.push_back(s_.kind == RnnKind::kGru ? cat(std::array{reset, fresh}, 0)
                                                   : copy_contiguous(sums));
    }
    if (w.w_hr) {
      Tensor result = make_tensor({s_.outputs, s_.hidden}, type_, input_.device());
      product(s_.outputs, s_.hidden, s_.rows, {calls_[d].d_projected, s_.outputs, true},
              {calls_[d].unprojected, s_.hidden}, result.template data_as<T>());
      gradients.push_back(result);
    }
  }

  const RnnShape& s_;
  DType type_;
  Wanted wanted_;
  Tensor input_, rows_, d_out_, d_h_, d_c_, d_input_;
  std::vector<RnnWeights> weights_;
  std::vector<Tensor> room_, d_gates_;
  std::vector<cpu::RnnBackward<T>> calls_;
};

}  // namespace

std::vector<Tensor> compute::rnn_layer_backward(
    const std::string& mode, const Tensor& d_output, const Tensor& d_h, const Tensor& d_c,
    const Tensor& input, const Tensor& hx, const Tensor& cx, TensorList params, const Tensor& rows,
    std::optional<IntSpan> batch_sizes, bool batch_first, bool wants_input, bool wants_params) {
  const RnnShape shape(rnn_kind(mode), input, hx, cx, params, batch_sizes, batch_first);
  const DType type = compute_type(input.dtype());
  const Tensor d_out = d_output ? contiguous(cast(d_output, type)) : d_output;
  return visit_floating(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Backward<T>(shape, contiguous(cast(input, type)), params, rows, d_out, d_h, d_c,
                       {wants_input, wants_params})();
  });
}

}  // namespace fb::ops
