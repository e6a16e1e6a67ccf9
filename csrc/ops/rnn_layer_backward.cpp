// One layer of a recurrent network, backwards.
#include "gen/ops/reduce.h"
#include "gen/ops/rnn.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/output.h"
#include "ops/rnn_layer.h"

namespace fb::ops {
namespace {

using kernel::RnnKind;

// A gradient that is updated step by step, from zeros if none is given.
Tensor running(const Tensor& grad, IntSpan sizes, DType type, Device device) {
  if (grad) return copy_contiguous(cast(grad, type));
  Tensor zeros = make_tensor(sizes, type, device);
  kernel::of(zeros).fill(zeros, 0.0);
  return zeros;
}

// Which gradients are wanted.
struct Wanted {
  bool input, params;
};

class Backward {
 public:
  Backward(const RnnShape& s, const Tensor& input, TensorList params, const Tensor& rows,
           const Tensor& d_out, const Tensor& d_h, const Tensor& d_c, Wanted wanted)
      : s_(s),
        type_(input.dtype()),
        wanted_(wanted),
        row_(RnnShape::apart_in_memory(s.kept_row())),
        d_gates_row_(RnnShape::apart_in_memory(s.gates())),
        input_(input),
        rows_(rows),
        d_out_(d_out),
        directions_(params, s.directions, type_) {
    d_h_ = running(d_h, Dims{s.directions, s.batch, s.outputs}, type_, input.device());
    if (s.has_cells())
      d_c_ = running(d_c, Dims{s.directions, s.batch, s.hidden}, type_, input.device());
    if (wanted.input) d_input_ = make_like(input, type_);
    for (const RnnWeights& each : directions_.weights)
      gradients_.push_back(room_for_gradients(each));
  }

  // Of the input, the states and the parameters.
  std::vector<Tensor> operator()() {
    run();
    std::vector<Tensor> gradients{d_input_, d_h_, d_c_};
    for (size_t d = 0; d < gradients_.size(); ++d) {
      if (wanted_.input) add_input_gradient(d);
      add_parameter_gradients(d, gradients);
    }
    return gradients;
  }

 private:
  // Gradients of the rows of one direction; the last two only with a projection.
  struct RowGradients {
    Tensor d_gates, d_projected, unprojected;
  };

  Tensor room(int64_t columns) const {
    return make_tensor({s_.rows, columns}, type_, input_.device());
  }

  RowGradients room_for_gradients(const RnnWeights& w) const {
    RowGradients gradients{room(d_gates_row_), {}, {}};
    if (!w.w_hr) return gradients;
    gradients.d_projected = room(s_.outputs);
    gradients.unprojected = room(s_.hidden);
    return gradients;
  }

  void run() const {
    std::vector<kernel::RnnRowGradients> gradients;
    for (const auto& [d_gates, d_projected, unprojected] : gradients_)
      gradients.push_back({d_gates.data(), d_projected ? d_projected.data() : nullptr,
                           unprojected ? unprojected.data() : nullptr});
    kernel::of(input_).rnn_layer_backward({.dtype = type_,
                                           .sizes = s_,
                                           .steps = s_.steps(),
                                           .parameters = directions_.parameters.data(),
                                           .rows = rows_.data(),
                                           .row = row_,
                                           .d_out = d_out_ ? d_out_.data() : nullptr,
                                           .d_h = d_h_.data(),
                                           .d_c = d_c_ ? d_c_.data() : nullptr,
                                           .gradients = gradients.data(),
                                           .d_gates_row = d_gates_row_});
  }

  // C (+)= A B, with contiguous C.
  void product(int64_t m, int64_t n, int64_t k, kernel::MatrixIn a, kernel::MatrixIn b, void* c,
               bool accumulate = false) const {
    kernel::of(input_).gemm({type_, 1, m, n, k, a, b, {c, n}, accumulate});
  }

  // The gradients of a direction's gates from column `first` on.
  kernel::MatrixIn d_gates(size_t d, int64_t first, bool transposed = false) const {
    return {element_at(gradients_[d].d_gates, first), d_gates_row_, transposed};
  }

  void add_input_gradient(size_t d) {
    product(s_.rows, s_.inputs, s_.weights(), d_gates(d, s_.first_input()),
            {directions_.weights[d].w_ih.data(), s_.inputs}, d_input_.data(), d > 0);
  }

  // The gradient of a weight is the gradient of its product, transposed, times its input.
  Tensor weight_gradient(int64_t first, int64_t columns, size_t d, kernel::MatrixIn applied_to,
                         int64_t n) const {
    Tensor result = make_tensor({columns, n}, type_, input_.device());
    product(columns, n, s_.rows, d_gates(d, first, true), applied_to, result.data());
    return result;
  }

  Tensor recurrent_gradient(size_t d) const {
    const int64_t before = s_.kept_row() - s_.outputs;
    const auto first = static_cast<int64_t>(d) * s_.rows * row_;
    const kernel::MatrixIn h{element_at(rows_, first + before), row_};
    if (s_.kind != RnnKind::kGru) return weight_gradient(0, s_.weights(), d, h, s_.outputs);
    // Rows are s, r, z; weights r, z, n.
    Tensor result = make_tensor({s_.weights(), s_.outputs}, type_, input_.device());
    const auto of = [&](int64_t from, int64_t gates, int64_t to) {
      product(gates * s_.hidden, s_.outputs, s_.rows, d_gates(d, from * s_.hidden, true), h,
              element_at(result, to * s_.hidden * s_.outputs));
    };
    of(1, 2, 0);
    of(0, 1, 2);
    return result;
  }

  void add_parameter_gradients(size_t d, std::vector<Tensor>& gradients) const {
    const RnnWeights& w = directions_.weights[d];
    if (!wanted_.params) {
      const size_t count = 2 + (w.b_ih ? 2 : 0) + (w.w_hr ? 1 : 0);
      gradients.resize(gradients.size() + count);
      return;
    }
    gradients.push_back(
        weight_gradient(s_.first_input(), s_.weights(), d, {input_.data(), s_.inputs}, s_.inputs));
    gradients.push_back(recurrent_gradient(d));
    if (w.b_ih) {
      const Tensor sums =
          ops::sum(ops::narrow(gradients_[d].d_gates, 1, 0, s_.gates()), Dims{0}, false, {});
      gradients.push_back(copy_contiguous(ops::narrow(sums, 0, s_.first_input(), s_.weights())));
      const Tensor reset = ops::narrow(sums, 0, s_.first_input(), s_.weights() - s_.first_input());
      const Tensor fresh = ops::narrow(sums, 0, 0, s_.first_input());
      gradients.push_back(s_.kind == RnnKind::kGru ? ops::cat(std::array{reset, fresh}, 0)
                                                   : copy_contiguous(sums));
    }
    if (w.w_hr) {
      Tensor result = make_tensor({s_.outputs, s_.hidden}, type_, input_.device());
      product(s_.outputs, s_.hidden, s_.rows, {gradients_[d].d_projected.data(), s_.outputs, true},
              {gradients_[d].unprojected.data(), s_.hidden}, result.data());
      gradients.push_back(result);
    }
  }

  const RnnShape& s_;
  DType type_;
  Wanted wanted_;
  int64_t row_, d_gates_row_;  // elements from a row to the next
  Tensor input_, rows_, d_out_, d_h_, d_c_, d_input_;
  RnnDirections directions_;
  std::vector<RowGradients> gradients_;
};

}  // namespace

std::vector<Tensor> compute::rnn_layer_backward(
    const std::string& mode, const Tensor& d_output, const Tensor& d_h, const Tensor& d_c,
    const Tensor& input, const Tensor& hx, const Tensor& cx, TensorList params, const Tensor& rows,
    std::optional<IntSpan> batch_sizes, bool batch_first, bool wants_input, bool wants_params) {
  const RnnShape shape(rnn_kind(mode), input, hx, cx, params, batch_sizes, batch_first);
  const DType type = compute_type(input.dtype());
  const Tensor d_out = d_output ? contiguous(cast(d_output, type)) : d_output;
  Backward backward(shape, contiguous(cast(input, type)), params, rows, d_out, d_h, d_c,
                    {wants_input, wants_params});
  return backward();
}

}  // namespace fb::ops
