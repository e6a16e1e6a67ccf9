// Activations of recurrent cells and their gradients, a row at a time: see cpu/rnn.h.
#include <cstddef>

#include "cpu/kernels/loops.h"
#include "cpu/rnn.h"
#include "scalar/activation.h"
#include "scalar/explog.h"

namespace fb::cpu::FB_ISA {
namespace {

using scalar::sigmoid;

template <class T>
FB_FN void lstm(const RnnGates<T>& g, int64_t row) {
  const int64_t n = g.units;
  T* __restrict i = g.gates + row * g.gates_row;
  T* __restrict f = i + g.apart;
  T* __restrict z = i + 2 * g.apart;
  T* __restrict o = i + 3 * g.apart;
  T* __restrict c = g.c + row * g.state_row;
  T* __restrict h = g.h + row * g.state_row;
  if (g.c_before)
    __builtin_memcpy(g.c_before + row * g.before_row, c, static_cast<size_t>(n) * sizeof(T));
  FB_IVDEP
  for (int64_t j = 0; j < n; ++j) {
    i[j] = sigmoid(i[j]);
    f[j] = sigmoid(f[j]);
    z[j] = math::tanh(z[j]);
    o[j] = sigmoid(o[j]);
    c[j] = f[j] * c[j] + i[j] * z[j];
    h[j] = o[j] * math::tanh(c[j]);
  }
}

template <class T>
FB_FN void gru(const RnnGates<T>& g, int64_t row) {
  const int64_t n = g.units;
  const T* __restrict s = g.gates + row * g.gates_row;
  T* __restrict r = g.gates + row * g.gates_row + g.apart;
  T* __restrict z = r + g.apart;
  T* __restrict fresh = r + 2 * g.apart;
  T* __restrict h = g.h + row * g.state_row;
  FB_IVDEP
  for (int64_t j = 0; j < n; ++j) {
    r[j] = sigmoid(r[j]);
    z[j] = sigmoid(z[j]);
    fresh[j] = math::tanh(fresh[j] + r[j] * s[j]);
    h[j] = fresh[j] + z[j] * (h[j] - fresh[j]);
  }
}

template <class T, bool is_relu>
FB_FN void plain(const RnnGates<T>& g, int64_t row) {
  T* __restrict a = g.gates + row * g.gates_row;
  T* __restrict h = g.h + row * g.state_row;
  FB_IVDEP
  for (int64_t j = 0; j < g.units; ++j) {
    a[j] = is_relu ? scalar::relu(a[j]) : math::tanh(a[j]);
    h[j] = a[j];
  }
}

template <class T>
FB_FN void lstm_backward(const RnnGatesBackward<T>& g, int64_t row) {
  const int64_t n = g.units;
  const T* __restrict i = g.gates + row * g.gates_row;
  const T* __restrict f = i + g.apart;
  const T* __restrict z = i + 2 * g.apart;
  const T* __restrict o = i + 3 * g.apart;
  const T* __restrict c_before = g.c_before + row * g.c_before_row;
  T* __restrict d_i = g.d_gates + row * g.d_gates_row;
  T* __restrict d_f = d_i + g.apart;
  T* __restrict d_z = d_i + 2 * g.apart;
  T* __restrict d_o = d_i + 3 * g.apart;
  const T* __restrict d_h = g.d_h + row * g.state_row;
  T* __restrict d_c = g.d_c + row * g.state_row;
  FB_IVDEP
  for (int64_t j = 0; j < n; ++j) {
    const T squashed = math::tanh(f[j] * c_before[j] + i[j] * z[j]);
    const T d_cell = d_c[j] + d_h[j] * o[j] * (T(1) - squashed * squashed);
    d_o[j] = d_h[j] * squashed * o[j] * (T(1) - o[j]);
    d_i[j] = d_cell * z[j] * i[j] * (T(1) - i[j]);
    d_z[j] = d_cell * i[j] * (T(1) - z[j] * z[j]);
    d_f[j] = d_cell * c_before[j] * f[j] * (T(1) - f[j]);
    d_c[j] = d_cell * f[j];
  }
  if (!g.projected) return;
  T* __restrict h = g.projected + row * g.projected_row;
  FB_IVDEP
  for (int64_t j = 0; j < n; ++j) h[j] = o[j] * math::tanh(f[j] * c_before[j] + i[j] * z[j]);
}

template <class T>
FB_FN void gru_backward(const RnnGatesBackward<T>& g, int64_t row) {
  const int64_t n = g.units;
  const T* __restrict s = g.gates + row * g.gates_row;
  const T* __restrict r = s + g.apart;
  const T* __restrict z = s + 2 * g.apart;
  const T* __restrict fresh = s + 3 * g.apart;
  const T* __restrict h_before = g.h_before + row * g.h_before_row;
  T* __restrict d_s = g.d_gates + row * g.d_gates_row;
  T* __restrict d_r = d_s + g.apart;
  T* __restrict d_z = d_s + 2 * g.apart;
  T* __restrict d_fresh = d_s + 3 * g.apart;
  T* __restrict d_h = g.d_h + row * g.state_row;
  FB_IVDEP
  for (int64_t j = 0; j < n; ++j) {
    const T d_n = d_h[j] * (T(1) - z[j]) * (T(1) - fresh[j] * fresh[j]);
    d_fresh[j] = d_n;
    d_s[j] = d_n * r[j];
    d_r[j] = d_n * s[j] * r[j] * (T(1) - r[j]);
    d_z[j] = d_h[j] * (h_before[j] - fresh[j]) * z[j] * (T(1) - z[j]);
    d_h[j] = d_h[j] * z[j];
  }
}

template <class T, bool is_relu>
FB_FN void plain_backward(const RnnGatesBackward<T>& g, int64_t row) {
  const T* __restrict h = g.gates + row * g.gates_row;
  const T* __restrict d_h = g.d_h + row * g.state_row;
  T* __restrict d = g.d_gates + row * g.d_gates_row;
  FB_IVDEP
  for (int64_t j = 0; j < g.units; ++j)
    d[j] = is_relu ? (h[j] > T(0) ? d_h[j] : T(0)) : d_h[j] * (T(1) - h[j] * h[j]);
}

}  // namespace

template <class T>
void rnn_gates(const RnnGates<T>& g) {
  for (int64_t row = 0; row < g.rows; ++row) {
    switch (g.kind) {
      case RnnKind::kLstm: lstm(g, row); break;
      case RnnKind::kGru: gru(g, row); break;
      case RnnKind::kTanh: plain<T, false>(g, row); break;
      case RnnKind::kRelu: plain<T, true>(g, row); break;
    }
  }
}

template <class T>
void rnn_gates_backward(const RnnGatesBackward<T>& g) {
  for (int64_t row = 0; row < g.rows; ++row) {
    switch (g.kind) {
      case RnnKind::kLstm: lstm_backward(g, row); break;
      case RnnKind::kGru: gru_backward(g, row); break;
      case RnnKind::kTanh: plain_backward<T, false>(g, row); break;
      case RnnKind::kRelu: plain_backward<T, true>(g, row); break;
    }
  }
}

template void rnn_gates(const RnnGates<float>&);
template void rnn_gates(const RnnGates<double>&);
template void rnn_gates_backward(const RnnGatesBackward<float>&);
template void rnn_gates_backward(const RnnGatesBackward<double>&);

}  // namespace fb::cpu::FB_ISA
