// What the operators on recurrent layers share: the shapes of a call, checked.
#pragma once

#include <vector>

#include "kernel/rnn.h"
#include "ops/types.h"

namespace fb::ops {

// "LSTM", "GRU", "RNN_TANH", "RNN_RELU": PyTorch's names of the modes.
kernel::RnnKind rnn_kind(const std::string& mode);

// The parameters of one direction, in PyTorch's order; missing ones are undefined.
struct RnnWeights {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;

  // As kernels take them.
  RnnWeights contiguous_as(DType type) const;
  kernel::RnnParameters parameters() const;
};
RnnWeights rnn_weights(TensorList params, int64_t direction, int64_t directions);

// The parameters of all directions, as kernels take them.
struct RnnDirections {
  RnnDirections(TensorList params, int64_t directions, DType type);

  std::vector<RnnWeights> weights;
  std::vector<kernel::RnnParameters> parameters;  // pointers to these
};

// One layer: (steps, batch, features), (batch, steps, features) or packed (rows, features).
struct RnnShape : kernel::RnnLayerSizes {
  std::vector<int64_t> start, active;
  int64_t apart;

  RnnShape(kernel::RnnKind kind, const Tensor& input, const Tensor& hx, const Tensor& cx,
           TensorList params, std::optional<IntSpan> batch_sizes, bool batch_first);

  kernel::RnnSteps steps() const {
    return {static_cast<int64_t>(active.size()), batch, start.data(), active.data(), apart};
  }
  // The distance between rows of `row` elements. The rows of a step are read together: at multiples
  // of a large power of two they would fall into the same cache sets.
  static int64_t apart_in_memory(int64_t row) { return row % 64 == 0 ? row + 16 : row; }
};

// As kernels take it; undefined stays undefined.
Tensor rnn_operand(const Tensor& t, DType type);

// Where element number `i` of a contiguous tensor lies.
inline void* element_at(const Tensor& t, int64_t i) {
  return static_cast<char*>(t.data()) + i * static_cast<int64_t>(t.element_size());
}

}  // namespace fb::ops
