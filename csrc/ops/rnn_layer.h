// What the operators on recurrent layers share: the shapes of a call, checked.
#pragma once

#include <algorithm>
#include <vector>

#include "cpu/rnn.h"
#include "ops/types.h"

namespace fb::ops {

// "LSTM", "GRU", "RNN_TANH", "RNN_RELU": PyTorch's names of the modes.
cpu::RnnKind rnn_kind(const std::string& mode);

// The parameters of one direction, in PyTorch's order; those that are not there are undefined.
struct RnnWeights {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
};
RnnWeights rnn_weights(TensorList params, int64_t direction, int64_t directions);

// One layer: (steps, batch, features), (batch, steps, features) or packed (rows, features).
struct RnnShape {
  cpu::RnnKind kind;
  int64_t directions, batch, inputs, hidden, outputs;
  int64_t rows;  // over all steps
  std::vector<int64_t> start, active;
  int64_t apart;

  RnnShape(cpu::RnnKind kind, const Tensor& input, const Tensor& hx, const Tensor& cx,
           TensorList params, std::optional<IntSpan> batch_sizes, bool batch_first);

  cpu::RnnSteps steps() const {
    return {static_cast<int64_t>(active.size()), batch, start.data(), active.data(), apart};
  }
  int64_t gates() const { return cpu::gate_columns(kind) * hidden; }
  int64_t weights() const { return cpu::weight_columns(kind) * hidden; }
  int64_t first_input() const { return cpu::first_input_column(kind) * hidden; }
  bool has_cells() const { return kind == cpu::RnnKind::kLstm; }
  // Elements of a row that backward can read: see Note [Rows of a recurrent layer].
  int64_t kept_row() const { return gates() + (has_cells() ? hidden : 0) + outputs; }
  // From one row of so many elements to the next. The rows of one step are read together: a
  // multiple of a large power of two apart, they would meet in the same place of the caches.
  static int64_t apart_in_memory(int64_t row) { return row % 64 == 0 ? row + 16 : row; }
};

// What the gates begin with besides the input: both biases, but for the GRU's n the input's alone.
// Empty where there are none.
template <class T>
std::vector<T> joint_bias(cpu::RnnKind kind, int64_t hidden, const Tensor& b_ih,
                          const Tensor& b_hh) {
  if (!b_ih && !b_hh) return {};
  const int64_t weights = cpu::weight_columns(kind) * hidden;
  std::vector<T> sum(static_cast<size_t>(weights));
  if (b_ih) std::copy_n(b_ih.data_as<T>(), weights, sum.begin());
  if (!b_hh) return sum;
  const T* const of_state = b_hh.data_as<T>();
  const int64_t joint = kind == cpu::RnnKind::kGru ? 2 * hidden : weights;
  for (int64_t j = 0; j < joint; ++j) sum[static_cast<size_t>(j)] += of_state[j];
  return sum;
}

void check_rnn_dtype(DType dtype);

// As kernels take it; undefined stays so.
Tensor rnn_operand(const Tensor& t, DType type);

}  // namespace fb::ops
