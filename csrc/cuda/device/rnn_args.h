// What the kernels of csrc/cuda/rnn.cpp are given. Elements of rows that belong to one step are
// `..._row` elements apart from a sequence to the next.
#pragma once

namespace fb::device {

// As kernel::RnnKind.
enum class RnnKind : int { kLstm, kGru, kTanh, kRelu };

// The activations of a step.
struct RnnStepArguments {
  long long n, hidden, outputs;  // n: elements of a hidden state of all sequences
  void* gates;
  long long row;   // of gates and of what is kept
  void* h;         // batch x outputs
  void* c;         // LSTM: batch x hidden
  void* h_before;  // where to keep the old state, or null
  void* c_before;
  void* fresh;  // the new h where there is a projection, batch x hidden; else null
  void* out;    // a copy of the new h, or null
  long long out_row;
};

struct RnnStepBackwardArguments {
  long long n, hidden;
  const void* gates;
  const void* c_before;
  const void* h_before;
  long long row, before_row;
  void* d_gates;
  long long d_gates_row;
  void* d_h;          // batch x hidden
  void* d_c;          // LSTM: likewise
  const void* d_out;  // added to d_h, or null
  long long d_out_row;
  void* projected;  // LSTM: where to recompute the new h, or null
  long long projected_row;
};

// Rows of `columns` elements: to = from + added, of which the last columns may lack a summand.
struct RnnRowsArguments {
  long long n, columns, added_columns;
  const void* from;  // null: zeros
  const void* added;
  void* to;
  void* also;  // a second copy, or null
  long long from_row, added_row, to_row, also_row;
};

struct RnnSumArguments {
  const void* from;
  void* out;
  long long rows, row, columns;
};

}  // namespace fb::device
