// Recurrent layers and cells, float32 or float64.
//
// Note [Rows of a recurrent layer]: what a layer keeps of one step of one sequence is a row:
//   LSTM       i, f, g, o | c before | h before
//   GRU        s, r, z, n | h before    (s: what the old state adds to n, before r scales it)
//   tanh, relu h          | h before
// The first part begins as the input's share of the gates, computed for all steps at once. A step
// adds the old state's share and applies the activations in place; backward reads only rows. s
// comes first so that each share is one run of columns: s, r, z the state's, r, z, n the input's.
// Gradients of gates have the same order.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

enum class RnnKind : uint8_t { kLstm, kGru, kTanh, kRelu };

// How many columns of `hidden` a kind has: in a row and its gradient, of those the state's share
// and the input's, and the first of the input's.
inline int64_t gate_columns(RnnKind kind) { return kind <= RnnKind::kGru ? 4 : 1; }
inline int64_t weight_columns(RnnKind kind) {
  return kind == RnnKind::kLstm ? 4 : kind == RnnKind::kGru ? 3 : 1;
}
inline int64_t first_input_column(RnnKind kind) { return kind == RnnKind::kGru ? 1 : 0; }

struct RnnSizes {
  RnnKind kind;
  int64_t batch, inputs, hidden;

  int64_t gates() const { return gate_columns(kind) * hidden; }
  int64_t weights() const { return weight_columns(kind) * hidden; }
  int64_t first_input() const { return first_input_column(kind) * hidden; }
  bool has_cells() const { return kind == RnnKind::kLstm; }
};

struct RnnLayerSizes : RnnSizes {
  int64_t directions;
  int64_t outputs;  // of h, less than `hidden` with a projection
  int64_t rows;     // over all steps

  // Elements of a row that backward can read.
  int64_t kept_row() const { return gates() + (has_cells() ? hidden : 0) + outputs; }
};

// Where the elements of a batch of sequences are: sequence b at step t is row start[t] + b * apart
// of every array. Step t has the first active[t] of the `batch` sequences, later steps never more.
// Both arrays are host memory.
struct RnnSteps {
  int64_t count, batch;
  const int64_t* start;
  const int64_t* active;
  int64_t apart;
};

// The parameters of a direction or a cell, contiguous, in PyTorch's order; null where there is
// none.
struct RnnParameters {
  const void* w_ih = nullptr;  // weights x inputs
  const void* w_hh = nullptr;  // weights x outputs
  const void* b_ih = nullptr;
  const void* b_hh = nullptr;
  const void* w_hr = nullptr;  // outputs x hidden: the projection
};

struct RnnLayerForward {
  DType dtype;
  const RnnLayerSizes& sizes;
  RnnSteps steps;
  const RnnParameters* parameters;  // host memory: of each direction
  const void* input;                // rows x inputs
  void* rows;                       // directions x rows: see the note
  int64_t row;                      // elements from a row to the next
  bool keep;                        // rows have room for the state before
  void* h;                          // directions x batch x outputs: the first state, then the last
  void* c;                          // LSTM: directions x batch x hidden, likewise
  void* out;                        // rows x directions * outputs
};

// What backward computes for one direction, for all rows.
struct RnnRowGradients {
  void* d_gates;      // d_gates_row elements apart
  void* d_projected;  // with a projection: the gradient of its result, rows x outputs,
  void* unprojected;  // and its argument, rows x hidden
};

struct RnnLayerBackward {
  DType dtype;
  const RnnLayerSizes& sizes;
  RnnSteps steps;
  const RnnParameters* parameters;  // host memory: of each direction
  const void* rows;
  int64_t row;
  const void* d_out;                 // or null
  void* d_h;                         // of the last state, then of the first
  void* d_c;                         // LSTM: likewise
  const RnnRowGradients* gradients;  // host memory: of each direction
  int64_t d_gates_row;
};

struct RnnCellForward {
  DType dtype;
  const RnnSizes& sizes;
  RnnParameters parameters;
  const void* input;  // batch x inputs
  void* gates;        // batch rows, as of a layer without the state before
  void* h;            // batch x hidden: the old state, then the new
  void* c;            // LSTM: likewise
};

struct RnnCellBackward {
  DType dtype;
  const RnnSizes& sizes;
  const void* gates;
  const void* c_before;  // LSTM
  const void* h_before;  // GRU
  void* d_gates;
  // On entry the gradients of the new state. On return d_c holds that of the old one, and d_h the
  // part that does not pass through the recurrent weights, nonzero only for the GRU.
  void* d_h;
  void* d_c;
};

struct Rnn {
  Slot<void(const RnnLayerForward& call)> rnn_layer_forward;
  // The gradients of gates and states, and the factors of a projection's gradient: all other
  // gradients are matrix products with these.
  Slot<void(const RnnLayerBackward& call)> rnn_layer_backward;
  Slot<void(const RnnCellForward& call)> rnn_cell_forward;
  Slot<void(const RnnCellBackward& call)> rnn_cell_backward;
  // The gradients of a cell's gates in the order of a weight's rows, the state's or the input's:
  // out is batch x weights.
  Slot<void(DType dtype, const RnnSizes& sizes, const void* d_gates, bool of_state, void* out)>
      rnn_order_gates;
  // out[j] = the sum of column j over the rows, `row` elements apart, in their order.
  Slot<void(DType dtype, const void* from, int64_t rows, int64_t row, int64_t columns, void* out)>
      rnn_sum_rows;
};

}  // namespace fb::kernel
