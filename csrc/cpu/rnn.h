// Recurrent layers and cells on raw memory, float or double. See Note [Rows of a recurrent layer].
#pragma once

#include "cpu/isa.h"
#include "kernel/rnn.h"

namespace fb::cpu {

using kernel::RnnCellBackward;
using kernel::RnnCellForward;
using kernel::RnnKind;
using kernel::RnnLayerBackward;
using kernel::RnnLayerForward;
using kernel::RnnLayerSizes;
using kernel::RnnParameters;
using kernel::RnnRowGradients;
using kernel::RnnSizes;
using kernel::RnnSteps;

FB_DECLARE_SLOT(kernel::Rnn, rnn_layer_forward)
FB_DECLARE_SLOT(kernel::Rnn, rnn_layer_backward)
FB_DECLARE_SLOT(kernel::Rnn, rnn_cell_forward)
FB_DECLARE_SLOT(kernel::Rnn, rnn_cell_backward)
FB_DECLARE_SLOT(kernel::Rnn, rnn_order_gates)
FB_DECLARE_SLOT(kernel::Rnn, rnn_sum_rows)

// Multiplications of a step from which its matrix is divided among idle threads: half of them take
// longer than waking a second thread.
inline constexpr int64_t kSharedProduct = 1 << 20;

// The activations of one step for some rows and hidden units, in place. h and c hold the old state,
// then the new.
template <class T>
struct RnnGates {
  RnnKind kind;
  int64_t rows, units;
  T* gates;
  int64_t gates_row, apart;  // elements from a row to the next, and from a gate to the next
  T* h;
  T* c;                // LSTM
  int64_t state_row;   // of h and c
  T* c_before;         // where to keep the old c, or null
  int64_t before_row;  // of c_before
};
FB_DECLARE_KERNEL(template <class T> void, rnn_gates, const RnnGates<T>&)

// Its backward. d_h and d_c hold the gradients of the new state, then d_c that of the old one and
// d_h the part that does not pass through the recurrent weights: 0 but for the GRU.
template <class T>
struct RnnGatesBackward {
  RnnKind kind;
  int64_t rows, units;
  const T* gates;
  int64_t gates_row, apart;  // apart: also of d_gates
  const T* c_before;         // LSTM
  const T* h_before;         // GRU
  int64_t c_before_row, h_before_row;
  T* d_gates;
  int64_t d_gates_row;
  T* d_h;
  T* d_c;
  int64_t state_row;  // of d_h and d_c
  T* projected;       // LSTM: where to recompute the new h, or null; rows projected_row apart
  int64_t projected_row;
};
FB_DECLARE_KERNEL(template <class T> void, rnn_gates_backward, const RnnGatesBackward<T>&)

// One direction of a layer, after the input's share has been computed. Matrices are packed.
template <class T>
struct RnnForward {
  RnnKind kind;
  RnnSteps steps;
  bool reverse;
  int64_t hidden, outputs;  // outputs: of h, less than `hidden` with a projection
  T* rows;
  int64_t row;          // elements from a row to the next
  bool keep;            // rows have room for the state before
  bool wide;            // packed in wide panels
  const T* recurrent;   // outputs x weight_columns * hidden, as in rows; null in blocks
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
  bool wide;
  const T* recurrent;   // weight_columns * hidden x outputs, as in rows; null in blocks
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

// Blocks of hidden units that threads divide a step into, where it is worth meeting after every
// step: there are few sequences, or the matrix is too large for a thread's caches. A block has its
// columns of the matrix to itself, packed: of all gates forwards, of the state's gradient
// backwards.
template <class T>
struct RnnBlocks {
  int64_t units;  // of a block; the last may have fewer
  const T* packed;
  int64_t packed_block;  // elements of a block
  T* gates;              // forwards: room for the gates of a block, gates_block elements each
  int64_t gates_block;
  T* h[2];  // forwards: step s reads h[s % 2] and writes the other
};
// One block of step number s; of all sequences.
FB_DECLARE_KERNEL(template <class T> void, rnn_forward_block, const RnnForward<T>&,
                  const RnnBlocks<T>&, int64_t s, int64_t block)
// The state's gradient of the step after number s, then the gates' of step s: each only if there is
// such a step.
FB_DECLARE_KERNEL(template <class T> void, rnn_backward_block, const RnnBackward<T>&,
                  const RnnBlocks<T>&, int64_t s, int64_t block)

}  // namespace fb::cpu
