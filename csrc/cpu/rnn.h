// Recurrent layers and cells on raw memory, float or double.
//
// Note [Rows of a recurrent layer]: what a layer keeps of one step of one sequence is a row:
//   LSTM       i, f, g, o | c before | h before
//   GRU        s, r, z, n | h before    (s: what the old state adds to n, before r scales it)
//   tanh, relu h          | h before
// The first part begins as the input's share of the gates, computed for all steps at once. A step
// adds the old state's share and applies the activations in place; backward reads rows alone. s
// stands first so that the shares are one run of columns each: s, r, z the state's, r, z, n the
// input's. Gradients of gates lie in the same order.
#pragma once

#include <cstdint>

#include "cpu/isa.h"

namespace fb::cpu {

enum class RnnKind : uint8_t { kLstm, kGru, kTanh, kRelu };

// How many columns of `hidden` a kind has: in a row and its gradient, of those the state's share
// and the input's, and the first of the input's.
inline int64_t gate_columns(RnnKind kind) { return kind <= RnnKind::kGru ? 4 : 1; }
inline int64_t weight_columns(RnnKind kind) {
  return kind == RnnKind::kLstm ? 4 : kind == RnnKind::kGru ? 3 : 1;
}
inline int64_t first_input_column(RnnKind kind) { return kind == RnnKind::kGru ? 1 : 0; }

// Multiplications of a step from which on its matrix is shared among idle threads: half of them
// take longer than waking a second one.
inline constexpr int64_t kSharedProduct = 1 << 20;

// The activations of one step for some rows, in place. h and c hold the old state, then the new.
template <class T>
struct RnnGates {
  RnnKind kind;
  int64_t rows, hidden;
  T* gates;
  int64_t gates_row;
  T* h;
  T* c;                // LSTM
  T* c_before;         // where to keep the old c, or null
  int64_t before_row;  // of c_before
};
FB_DECLARE_KERNEL(template <class T> void, rnn_gates, const RnnGates<T>&)

// Its backward. d_h and d_c hold the gradients of the new state; then d_c that of the old one, and
// d_h what of it does not come through the recurrent weights: something for the GRU alone.
template <class T>
struct RnnGatesBackward {
  RnnKind kind;
  int64_t rows, hidden;
  const T* gates;
  int64_t gates_row;
  const T* c_before;  // LSTM
  const T* h_before;  // GRU
  int64_t c_before_row, h_before_row;
  T* d_gates;
  int64_t d_gates_row;
  T* d_h;
  T* d_c;
  T* projected;  // LSTM: where to put the new h again, or null; rows of `hidden`, projected_row
                 // apart
  int64_t projected_row;
};
FB_DECLARE_KERNEL(template <class T> void, rnn_gates_backward, const RnnGatesBackward<T>&)

// Where the elements of a batch of sequences are: sequence b at step t is row start[t] + b * apart
// of every array. Step t has the first active[t] of the `batch` sequences, later steps never more.
struct RnnSteps {
  int64_t count, batch;
  const int64_t* start;
  const int64_t* active;
  int64_t apart;
};

// One direction of a layer, after the input's share was computed. Matrices are packed.
template <class T>
struct RnnForward {
  RnnKind kind;
  RnnSteps steps;
  bool reverse;
  int64_t hidden, outputs;  // outputs: of h, less than `hidden` with a projection
  T* rows;
  int64_t row;          // elements from a row to the next
  bool keep;            // rows have room for the state before
  const T* recurrent;   // outputs x weight_columns * hidden, in the order of rows
  const T* projection;  // hidden x outputs, or null
  const T* state_bias;  // GRU: of s, or null
  T* h;                 // batch x outputs: the first state, then the last
  T* c;                 // LSTM: batch x hidden, likewise
  T* unprojected;       // batch x hidden, where there is a projection
  T* out;
  int64_t out_row;
};
// For the sequences [first, last).
FB_DECLARE_KERNEL(template <class T> void, rnn_forward, const RnnForward<T>&, int64_t first,
                  int64_t last)

template <class T>
struct RnnBackward {
  RnnKind kind;
  RnnSteps steps;
  bool reverse;
  int64_t hidden, outputs;
  const T* rows;
  int64_t row;
  const T* recurrent;   // weight_columns * hidden x outputs, in the order of rows
  const T* projection;  // outputs x hidden, or null
  const T* d_out;       // or null
  int64_t d_out_row;
  T* d_h;      // batch x outputs: of the last state, then of the first
  T* d_c;      // LSTM: batch x hidden, likewise
  T* d_gates;  // of all rows
  int64_t d_gates_row;
  // With a projection: the gradient of its result and its argument, for all rows; and room for
  // batch x hidden.
  T* d_projected;
  T* unprojected;
  T* d_unprojected;
};
FB_DECLARE_KERNEL(template <class T> void, rnn_backward, const RnnBackward<T>&, int64_t first,
                  int64_t last)

}  // namespace fb::cpu
