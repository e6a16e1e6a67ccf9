// The steps of a recurrent layer, forwards and backwards: see cpu/rnn.h.
#include "cpu/rnn.h"

#include <cstddef>

#include "cpu/packed_gemm.h"
#include "cpu/threads.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class T>
void copy_run(T* to, const T* from, int64_t n) {
  __builtin_memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
}

template <class T>
void add_rows(T* to, int64_t to_row, const T* from, int64_t from_row, int64_t rows, int64_t n) {
  for (int64_t i = 0; i < rows; ++i) {
    const T* __restrict a = from + i * from_row;
    T* __restrict b = to + i * to_row;
    for (int64_t j = 0; j < n; ++j) b[j] += a[j];
  }
}

template <class T>
void copy_rows(T* to, int64_t to_row, const T* from, int64_t from_row, int64_t rows, int64_t n) {
  for (int64_t i = 0; i < rows; ++i) copy_run(to + i * to_row, from + i * from_row, n);
}

// Rows begin as the bias, or as zeros.
template <class T>
void start_rows(T* to, int64_t to_row, const T* bias, int64_t rows, int64_t n) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < n; ++j) to[i * to_row + j] = bias ? bias[j] : T(0);
}

// A product whose columns are divided among threads, unless each thread has sequences of its own:
// with a projection, few sequences are not divided into blocks of units.
template <class T>
void product(bool wide, const PackedProduct<T>& g) {
  const int64_t columns = wide ? kWideColumns : 64;  // whole panels of every instruction set
  const int64_t pieces = (g.n + columns - 1) / columns;
  const int64_t grain = kSharedProduct / 2 / (g.m * g.k * columns + 1) + 1;
  parallel_for(pieces, grain, [&](int64_t begin, int64_t end) {
    PackedProduct<T> part = g;
    const int64_t first = begin * columns, last = end * columns;
    part.n = (last < g.n ? last : g.n) - first;
    part.b += first * g.k;
    part.c += first;
    part.b_is_wide = wide;
    packed_product<T>(part);
  });
}

// The sequences [first, last) that have step number `s` in the order of a direction.
struct Step {
  int64_t first, rows;
  int64_t at;  // the row of the first

  Step(const RnnSteps& steps, bool reverse, int64_t s, int64_t first, int64_t last) : first(first) {
    const int64_t t = reverse ? steps.count - 1 - s : s;
    rows = (last < steps.active[t] ? last : steps.active[t]) - first;
    at = steps.start[t] + first * steps.apart;
  }
};

template <class T>
void forward_step(const RnnForward<T>& f, const Step& step) {
  const int64_t apart = f.steps.apart, hidden = f.hidden, outputs = f.outputs;
  const int64_t stride = apart * f.row;
  T* const rows = f.rows + step.at * f.row;
  T* const h = f.h + step.first * outputs;
  T* const c = f.c ? f.c + step.first * hidden : nullptr;
  T* const h_before = rows + (kernel::gate_columns(f.kind) + (f.c ? 1 : 0)) * hidden;
  if (f.keep) copy_rows(h_before, stride, h, outputs, step.rows, outputs);
  if (f.kind == RnnKind::kGru) start_rows(rows, stride, f.state_bias, step.rows, hidden);
  product<T>(f.wide, {step.rows, kernel::weight_columns(f.kind) * hidden, outputs, h, outputs,
                      f.recurrent, rows, stride, true});
  T* const fresh = f.projection ? f.unprojected + step.first * hidden : h;
  rnn_gates<T>({f.kind, step.rows, hidden, rows, stride, hidden, fresh, c, hidden,
                f.keep && c ? rows + kernel::gate_columns(f.kind) * hidden : nullptr, stride});
  if (f.projection)
    product<T>(f.wide,
               {step.rows, outputs, hidden, fresh, hidden, f.projection, h, outputs, false});
  copy_rows(f.out + step.at * f.out_row, apart * f.out_row, h, outputs, step.rows, outputs);
}

template <class T>
void backward_step(const RnnBackward<T>& b, const Step& step) {
  const int64_t apart = b.steps.apart, hidden = b.hidden, outputs = b.outputs;
  const int64_t columns = kernel::gate_columns(b.kind) * hidden;
  const T* const rows = b.rows + step.at * b.row;
  T* const d_gates = b.d_gates + step.at * b.d_gates_row;
  T* const d_h = b.d_h + step.first * outputs;
  if (b.d_out)
    add_rows(d_h, outputs, b.d_out + step.at * b.d_out_row, apart * b.d_out_row, step.rows,
             outputs);
  T* d_fresh = d_h;
  if (b.projection) {
    copy_rows(b.d_projected + step.at * outputs, apart * outputs, d_h, outputs, step.rows, outputs);
    d_fresh = b.d_unprojected + step.first * hidden;
    product<T>(b.wide,
               {step.rows, hidden, outputs, d_h, outputs, b.projection, d_fresh, hidden, false});
  }
  const T* const c_before = rows + columns;
  rnn_gates_backward<T>(
      {b.kind, step.rows, hidden, rows, apart * b.row, hidden, c_before, rows + columns,
       apart * b.row, apart * b.row, d_gates, apart * b.d_gates_row, d_fresh,
       b.d_c ? b.d_c + step.first * hidden : nullptr, hidden,
       b.projection ? b.unprojected + step.at * hidden : nullptr, apart * hidden});
  product<T>(b.wide, {step.rows, outputs, kernel::weight_columns(b.kind) * hidden, d_gates,
                      apart * b.d_gates_row, b.recurrent, d_h, outputs, b.kind == RnnKind::kGru});
}

}  // namespace

template <class T>
void rnn_forward(const RnnForward<T>& f, int64_t first, int64_t last) {
  for (int64_t s = 0; s < f.steps.count; ++s) {
    const Step step(f.steps, f.reverse, s, first, last);
    if (step.rows > 0) forward_step(f, step);
  }
}

template <class T>
void rnn_backward(const RnnBackward<T>& b, int64_t first, int64_t last) {
  for (int64_t s = b.steps.count - 1; s >= 0; --s) {
    const Step step(b.steps, b.reverse, s, first, last);
    if (step.rows > 0) backward_step(b, step);
  }
}

template <class T>
void rnn_forward_block(const RnnForward<T>& f, const RnnBlocks<T>& blocks, int64_t s,
                       int64_t block) {
  const Step step(f.steps, f.reverse, s, 0, f.steps.batch);
  const int64_t hidden = f.hidden, first = block * blocks.units;
  const int64_t gates = kernel::gate_columns(f.kind);
  const int64_t units = hidden - first < blocks.units ? hidden - first : blocks.units;
  const int64_t stride = f.steps.apart * f.row, own_row = gates * units;
  const T* const before = blocks.h[s % 2];
  T* const h = blocks.h[(s + 1) % 2] + first;
  T* const rows = f.rows + step.at * f.row + first;
  T* const own = blocks.gates + block * blocks.gates_block;
  const bool is_gru = f.kind == RnnKind::kGru;
  for (int64_t g = is_gru ? 1 : 0; g < gates; ++g)
    copy_rows(own + g * units, own_row, rows + g * hidden, stride, step.rows, units);
  if (is_gru) {
    start_rows(own, own_row, f.state_bias ? f.state_bias + first : nullptr, step.rows, units);
    copy_rows(h, hidden, before + first, hidden, step.rows, units);
  }
  packed_product<T>({step.rows, kernel::weight_columns(f.kind) * units, hidden, before, hidden,
                     blocks.packed + block * blocks.packed_block, own, own_row, true, nullptr, 0,
                     false, f.wide});
  rnn_gates<T>({f.kind, step.rows, units, own, own_row, units, h, f.c ? f.c + first : nullptr,
                hidden, f.keep && f.c ? rows + gates * hidden : nullptr, stride});
  if (f.keep) {
    for (int64_t g = 0; g < gates; ++g)
      copy_rows(rows + g * hidden, stride, own + g * units, own_row, step.rows, units);
    copy_rows(rows + (gates + (f.c ? 1 : 0)) * hidden, stride, before + first, hidden, step.rows,
              units);
  }
  copy_rows(f.out + step.at * f.out_row + first, f.steps.apart * f.out_row, h, hidden, step.rows,
            units);
}

template <class T>
void rnn_backward_block(const RnnBackward<T>& b, const RnnBlocks<T>& blocks, int64_t s,
                        int64_t block) {
  const int64_t hidden = b.hidden, apart = b.steps.apart, first = block * blocks.units;
  const int64_t units = hidden - first < blocks.units ? hidden - first : blocks.units;
  T* const d_h = b.d_h + first;
  if (s + 1 < b.steps.count) {
    const Step step(b.steps, b.reverse, s + 1, 0, b.steps.batch);
    packed_product<T>({step.rows, units, kernel::weight_columns(b.kind) * hidden,
                       b.d_gates + step.at * b.d_gates_row, apart * b.d_gates_row,
                       blocks.packed + block * blocks.packed_block, d_h, hidden,
                       b.kind == RnnKind::kGru, nullptr, 0, false, b.wide});
  }
  if (s < 0) return;
  const Step step(b.steps, b.reverse, s, 0, b.steps.batch);
  const int64_t stride = apart * b.row;
  const T* const rows = b.rows + step.at * b.row + first;
  const T* const before = rows + kernel::gate_columns(b.kind) * hidden;
  if (b.d_out)
    add_rows(d_h, hidden, b.d_out + step.at * b.d_out_row + first, apart * b.d_out_row, step.rows,
             units);
  rnn_gates_backward<T>({b.kind, step.rows, units, rows, stride, hidden, before, before, stride,
                         stride, b.d_gates + step.at * b.d_gates_row + first, apart * b.d_gates_row,
                         d_h, b.d_c ? b.d_c + first : nullptr, hidden, nullptr, 0});
}

template void rnn_forward_block(const RnnForward<float>&, const RnnBlocks<float>&, int64_t,
                                int64_t);
template void rnn_forward_block(const RnnForward<double>&, const RnnBlocks<double>&, int64_t,
                                int64_t);
template void rnn_backward_block(const RnnBackward<float>&, const RnnBlocks<float>&, int64_t,
                                 int64_t);
template void rnn_backward_block(const RnnBackward<double>&, const RnnBlocks<double>&, int64_t,
                                 int64_t);
template void rnn_forward(const RnnForward<float>&, int64_t, int64_t);
template void rnn_forward(const RnnForward<double>&, int64_t, int64_t);
template void rnn_backward(const RnnBackward<float>&, int64_t, int64_t);
template void rnn_backward(const RnnBackward<double>&, int64_t, int64_t);

}  // namespace fb::cpu::FB_ISA
