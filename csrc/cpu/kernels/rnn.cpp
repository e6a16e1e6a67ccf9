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

// A product whose columns are divided among threads, unless each thread has sequences of its own.
template <class T>
void product(const PackedProduct<T>& g) {
  constexpr int64_t kColumns = 64;  // whole panels of every instruction set
  const int64_t pieces = (g.n + kColumns - 1) / kColumns;
  const int64_t grain = kSharedProduct / 2 / (g.m * g.k * kColumns + 1) + 1;
  parallel_for(pieces, grain, [&](int64_t begin, int64_t end) {
    PackedProduct<T> part = g;
    const int64_t first = begin * kColumns, last = end * kColumns;
    part.n = (last < g.n ? last : g.n) - first;
    part.b += first * g.k;
    part.c += first;
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
  for (int64_t i = 0; i < step.rows; ++i) {
    if (f.keep) copy_run(h_before + i * stride, h + i * outputs, outputs);
    if (f.kind != RnnKind::kGru) continue;
    for (int64_t j = 0; j < hidden; ++j)
      rows[i * stride + j] = f.state_bias ? f.state_bias[j] : T(0);
  }
  product<T>({step.rows, kernel::weight_columns(f.kind) * hidden, outputs, h, outputs, f.recurrent,
              rows, stride, true});
  T* const fresh = f.projection ? f.unprojected + step.first * hidden : h;
  rnn_gates<T>({f.kind, step.rows, hidden, rows, stride, fresh, c,
                f.keep && c ? rows + kernel::gate_columns(f.kind) * hidden : nullptr, stride});
  if (f.projection)
    product<T>({step.rows, outputs, hidden, fresh, hidden, f.projection, h, outputs, false});
  T* const out = f.out + step.at * f.out_row;
  for (int64_t i = 0; i < step.rows; ++i)
    copy_run(out + i * apart * f.out_row, h + i * outputs, outputs);
}

template <class T>
void backward_step(const RnnBackward<T>& b, const Step& step) {
  const int64_t apart = b.steps.apart, hidden = b.hidden, outputs = b.outputs;
  const int64_t columns = kernel::gate_columns(b.kind) * hidden;
  const T* const rows = b.rows + step.at * b.row;
  T* const d_gates = b.d_gates + step.at * b.d_gates_row;
  T* const d_h = b.d_h + step.first * outputs;
  if (b.d_out) {
    for (int64_t i = 0; i < step.rows; ++i) {
      const T* __restrict from = b.d_out + (step.at + i * apart) * b.d_out_row;
      T* __restrict to = d_h + i * outputs;
      for (int64_t j = 0; j < outputs; ++j) to[j] += from[j];
    }
  }
  T* d_fresh = d_h;
  if (b.projection) {
    T* const kept = b.d_projected + step.at * outputs;
    for (int64_t i = 0; i < step.rows; ++i)
      copy_run(kept + i * apart * outputs, d_h + i * outputs, outputs);
    d_fresh = b.d_unprojected + step.first * hidden;
    product<T>({step.rows, hidden, outputs, d_h, outputs, b.projection, d_fresh, hidden, false});
  }
  const T* const c_before = rows + columns;
  rnn_gates_backward<T>({b.kind, step.rows, hidden, rows, apart * b.row, c_before, rows + columns,
                         apart * b.row, apart * b.row, d_gates, apart * b.d_gates_row, d_fresh,
                         b.d_c ? b.d_c + step.first * hidden : nullptr,
                         b.projection ? b.unprojected + step.at * hidden : nullptr,
                         apart * hidden});
  product<T>({step.rows, outputs, kernel::weight_columns(b.kind) * hidden, d_gates,
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

template void rnn_forward(const RnnForward<float>&, int64_t, int64_t);
template void rnn_forward(const RnnForward<double>&, int64_t, int64_t);
template void rnn_backward(const RnnBackward<float>&, int64_t, int64_t);
template void rnn_backward(const RnnBackward<double>&, int64_t, int64_t);

}  // namespace fb::cpu::FB_ISA
