// Recurrent layers and cells: a matrix product and a kernel for the gates in each step.
//
// The recurrent weights are used in the order of rows (see Note [Rows of a recurrent layer]), so
// that the state's share of all gates is one product.
#include "cuda/rnn.h"

#include "core/tensor.h"
#include "cuda/copy.h"
#include "cuda/device/rnn_args.h"
#include "cuda/gemm.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using kernel::RnnKind;

TypedKernel step_kernel("rnn.cuh", "rnn_step", "RnnStepArguments");
TypedKernel step_backward_kernel("rnn.cuh", "rnn_step_backward", "RnnStepBackwardArguments");
TypedKernel add_rows_kernel("rnn.cuh", "rnn_add_rows", "RnnRowsArguments");
TypedKernel sum_rows_kernel("rnn.cuh", "rnn_sum_rows", "RnnSumArguments");

// What all launches of a call share.
class Run {
 public:
  Run(int device, DType dtype) : device_(device), dtype_(dtype) { use(device); }

  // Where element number `i` lies; null stays null.
  template <class Pointer>
  Pointer at(Pointer base, int64_t i) const {
    using Byte = std::conditional_t<std::is_same_v<Pointer, void*>, char, const char>;
    return base ? static_cast<Byte*>(base) + i * static_cast<int64_t>(size_of(dtype_)) : nullptr;
  }

  void* room(int64_t elements) {
    room_.push_back(
        make_tensor({elements}, dtype_, Device(DeviceType::kCuda, static_cast<int8_t>(device_))));
    return room_.back().data();
  }

  void product(int64_t m, int64_t n, int64_t k, kernel::MatrixIn a, kernel::MatrixIn b,
               kernel::MatrixOut c, bool accumulate, const void* bias = nullptr) const {
    gemm({dtype_, 1, m, n, k, a, b, c, accumulate, bias});
  }

  template <class Arguments>
  void step(TypedKernel& kernel, RnnKind kind, const Arguments& args) const {
    const int number = static_cast<int>(kind);
    const std::string variant = message_of("static_cast<RnnKind>(", number, ")");
    if (args.n > 0)
      launch(device_, kernel.on(device_, dtype_, number, variant.c_str()),
             {blocks_for(args.n, 256)}, 256, args);
  }

  void add_rows(const device::RnnRowsArguments& args) const {
    if (args.n > 0)
      launch(device_, add_rows_kernel.on(device_, dtype_), {blocks_for(args.n, 256)}, 256, args);
  }

  void copy_rows(int64_t rows, int64_t columns, const void* from, int64_t from_row, void* to,
                 int64_t to_row) const {
    device::RnnRowsArguments args{};
    args.n = rows * columns, args.columns = columns;
    args.from = from, args.from_row = from_row, args.to = to, args.to_row = to_row;
    add_rows(args);
  }

  void sum_rows(const device::RnnSumArguments& args) const {
    if (args.columns > 0)
      launch(device_, sum_rows_kernel.on(device_, dtype_), {blocks_for(args.columns, 32)}, 256,
             args);
  }

  // The initial values of gates besides the input's share: the sum of both biases, for the GRU's n
  // only the input's. Null if there are none.
  const void* joint_bias(const kernel::RnnSizes& s, const kernel::RnnParameters& w) {
    if (!w.b_hh) return w.b_ih;
    device::RnnRowsArguments args{};
    args.n = args.columns = s.weights();
    args.added_columns = s.kind == RnnKind::kGru ? 2 * s.hidden : s.weights();
    args.from = w.b_ih, args.added = w.b_hh;
    args.to = room(s.weights());
    add_rows(args);
    return args.to;
  }

  // The GRU's bias of what the old state adds to n, which r scales.
  const void* state_bias(const kernel::RnnSizes& s, const kernel::RnnParameters& w) const {
    return at(w.b_hh, 2 * s.hidden);
  }

  // The recurrent weights in the order of rows: the GRU's n comes first.
  const void* ordered(const kernel::RnnSizes& s, int64_t outputs, const void* w_hh) {
    if (s.kind != RnnKind::kGru) return w_hh;
    const int64_t gate = s.hidden * outputs;
    const size_t bytes = static_cast<size_t>(gate) * size_of(dtype_);
    void* const result = room(3 * gate);
    copy_bytes_here(result, at(w_hh, 2 * gate), bytes);
    copy_bytes_here(at(result, gate), w_hh, 2 * bytes);
    return result;
  }

 private:
  int device_;
  DType dtype_;
  std::vector<Tensor> room_;
};

// The sequences of step number `s` in the order of a direction.
struct Step {
  int64_t count, at;  // at: the row of the first sequence

  Step(const kernel::RnnSteps& steps, bool reverse, int64_t s) {
    const int64_t t = reverse ? steps.count - 1 - s : s;
    count = steps.active[t];
    at = steps.start[t];
  }
};

void forward(Run& run, const kernel::RnnLayerForward& call, int64_t d) {
  const kernel::RnnLayerSizes& s = call.sizes;
  const kernel::RnnParameters& w = call.parameters[d];
  const int64_t hidden = s.hidden, outputs = s.outputs, apart = call.steps.apart;
  const int64_t stride = apart * call.row, out_row = s.directions * outputs;
  void* const rows = run.at(call.rows, d * s.rows * call.row);
  void* const h = run.at(call.h, d * s.batch * outputs);
  void* const out = run.at(call.out, d * outputs);
  run.product(s.rows, s.weights(), s.inputs, {call.input, s.inputs}, {w.w_ih, s.inputs, true},
              {run.at(rows, s.first_input()), call.row}, false, run.joint_bias(s, w));
  if (s.kind == RnnKind::kGru)
    run.copy_rows(s.rows, hidden, run.state_bias(s, w), 0, rows, call.row);
  const void* const recurrent = run.ordered(s, outputs, w.w_hh);
  device::RnnStepArguments args{};
  args.hidden = hidden, args.outputs = outputs, args.row = stride;
  args.h = h, args.c = run.at(call.c, d * s.batch * hidden);
  args.fresh = w.w_hr ? run.room(s.batch * hidden) : nullptr;
  args.out_row = apart * out_row;
  for (int64_t i = 0; i < call.steps.count; ++i) {
    const Step step(call.steps, d == 1, i);
    if (step.count == 0) continue;
    args.n = step.count * hidden;
    args.gates = run.at(rows, step.at * call.row);
    if (call.keep) {
      args.c_before = s.has_cells() ? run.at(args.gates, s.gates()) : nullptr;
      args.h_before = run.at(args.gates, s.gates() + (s.has_cells() ? hidden : 0));
    }
    void* const result = run.at(out, step.at * out_row);
    if (!w.w_hr) args.out = result;
    run.product(step.count, s.weights(), outputs, {h, outputs}, {recurrent, outputs, true},
                {args.gates, stride}, true);
    run.step(step_kernel, s.kind, args);
    if (!w.w_hr) continue;
    run.product(step.count, outputs, hidden, {args.fresh, hidden}, {w.w_hr, hidden, true},
                {h, outputs}, false);
    run.copy_rows(step.count, outputs, h, outputs, result, args.out_row);
  }
}

void backward(Run& run, const kernel::RnnLayerBackward& call, int64_t d) {
  const kernel::RnnLayerSizes& s = call.sizes;
  const kernel::RnnParameters& w = call.parameters[d];
  const kernel::RnnRowGradients& gradients = call.gradients[d];
  const int64_t hidden = s.hidden, outputs = s.outputs, apart = call.steps.apart;
  const int64_t d_out_row = s.directions * outputs;
  const void* const rows = run.at(call.rows, d * s.rows * call.row);
  const void* const d_out = run.at(call.d_out, d * outputs);
  void* const d_h = run.at(call.d_h, d * s.batch * outputs);
  const void* const recurrent = run.ordered(s, outputs, w.w_hh);
  device::RnnStepBackwardArguments args{};
  args.hidden = hidden;
  args.row = args.before_row = apart * call.row;
  args.d_gates_row = apart * call.d_gates_row;
  args.d_h = w.w_hr ? run.room(s.batch * hidden) : d_h;
  args.d_c = run.at(call.d_c, d * s.batch * hidden);
  args.d_out_row = apart * d_out_row;
  args.projected_row = apart * hidden;
  for (int64_t i = call.steps.count - 1; i >= 0; --i) {
    const Step step(call.steps, d == 1, i);
    if (step.count == 0) continue;
    const void* const d_result = run.at(d_out, step.at * d_out_row);
    args.n = step.count * hidden;
    args.gates = run.at(rows, step.at * call.row);
    args.c_before = args.h_before = run.at(args.gates, s.gates());
    args.d_gates = run.at(gradients.d_gates, step.at * call.d_gates_row);
    if (w.w_hr) {
      device::RnnRowsArguments sum{};
      sum.n = step.count * outputs, sum.columns = sum.added_columns = outputs;
      sum.from = sum.to = d_h, sum.from_row = sum.to_row = outputs;
      sum.added = d_result, sum.added_row = args.d_out_row;
      sum.also = run.at(gradients.d_projected, step.at * outputs), sum.also_row = apart * outputs;
      run.add_rows(sum);
      run.product(step.count, hidden, outputs, {d_h, outputs}, {w.w_hr, hidden}, {args.d_h, hidden},
                  false);
      args.projected = run.at(gradients.unprojected, step.at * hidden);
    } else {
      args.d_out = d_result;
    }
    run.step(step_backward_kernel, s.kind, args);
    run.product(step.count, outputs, s.weights(), {args.d_gates, args.d_gates_row},
                {recurrent, outputs}, {d_h, outputs}, s.kind == RnnKind::kGru);
  }
}

}  // namespace

void rnn_layer_forward(const kernel::RnnLayerForward& call) {
  if (call.sizes.rows == 0) return;
  Run run(place_of(call.out), call.dtype);
  for (int64_t d = 0; d < call.sizes.directions; ++d) forward(run, call, d);
}

void rnn_layer_backward(const kernel::RnnLayerBackward& call) {
  if (call.sizes.rows == 0) return;
  Run run(place_of(call.rows), call.dtype);
  for (int64_t d = 0; d < call.sizes.directions; ++d) backward(run, call, d);
}

void rnn_cell_forward(const kernel::RnnCellForward& call) {
  const kernel::RnnSizes& s = call.sizes;
  const kernel::RnnParameters& w = call.parameters;
  if (s.batch * s.hidden == 0) return;
  Run run(place_of(call.gates), call.dtype);
  run.product(s.batch, s.weights(), s.inputs, {call.input, s.inputs}, {w.w_ih, s.inputs, true},
              {run.at(call.gates, s.first_input()), s.gates()}, false, run.joint_bias(s, w));
  if (s.kind == RnnKind::kGru) {
    run.product(s.batch, 2 * s.hidden, s.hidden, {call.h, s.hidden}, {w.w_hh, s.hidden, true},
                {run.at(call.gates, s.hidden), s.gates()}, true);
    run.product(s.batch, s.hidden, s.hidden, {call.h, s.hidden},
                {run.at(w.w_hh, 2 * s.hidden * s.hidden), s.hidden, true}, {call.gates, s.gates()},
                false, run.state_bias(s, w));
  } else {
    run.product(s.batch, s.weights(), s.hidden, {call.h, s.hidden}, {w.w_hh, s.hidden, true},
                {call.gates, s.gates()}, true);
  }
  device::RnnStepArguments args{};
  args.n = s.batch * s.hidden;
  args.hidden = args.outputs = s.hidden;
  args.gates = call.gates, args.row = s.gates();
  args.h = call.h, args.c = call.c;
  run.step(step_kernel, s.kind, args);
}

void rnn_cell_backward(const kernel::RnnCellBackward& call) {
  const kernel::RnnSizes& s = call.sizes;
  if (s.batch * s.hidden == 0) return;
  const Run run(place_of(call.gates), call.dtype);
  device::RnnStepBackwardArguments args{};
  args.n = s.batch * s.hidden, args.hidden = s.hidden;
  args.gates = call.gates, args.row = s.gates();
  args.c_before = call.c_before, args.h_before = call.h_before, args.before_row = s.hidden;
  args.d_gates = call.d_gates, args.d_gates_row = s.gates();
  args.d_h = call.d_h, args.d_c = call.d_c;
  run.step(step_backward_kernel, s.kind, args);
}

void rnn_order_gates(DType dtype, const kernel::RnnSizes& sizes, const void* d_gates, bool of_state,
                     void* out) {
  const int64_t first = sizes.first_input(), shared = sizes.weights() - first;
  if (sizes.batch * sizes.weights() == 0) return;
  const Run run(place_of(out), dtype);
  run.copy_rows(sizes.batch, shared, run.at(d_gates, first), sizes.gates(), out, sizes.weights());
  run.copy_rows(sizes.batch, first, run.at(d_gates, of_state ? 0 : first + shared), sizes.gates(),
                run.at(out, shared), sizes.weights());
}

void rnn_sum_rows(DType dtype, const void* from, int64_t rows, int64_t row, int64_t columns,
                  void* out) {
  if (columns == 0) return;
  Run(place_of(out), dtype).sum_rows({from, out, rows, row, columns});
}

}  // namespace fb::cuda
