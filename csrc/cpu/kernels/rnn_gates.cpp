// Activations of recurrent cells and their gradients, a row at a time: see cpu/rnn.h.
#include <cstddef>

#include "cpu/kernels/loops.h"
#include "cpu/rnn.h"
#include "scalar/rnn.h"

namespace fb::cpu::FB_ISA {
namespace {

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
  for (int64_t j = 0; j < n; ++j) scalar::rnn::lstm(i[j], f[j], z[j], o[j], c[j], h[j]);
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
  for (int64_t j = 0; j < n; ++j) scalar::rnn::gru(s[j], r[j], z[j], fresh[j], h[j]);
}

template <class T, bool is_relu>
FB_FN void plain(const RnnGates<T>& g, int64_t row) {
  T* __restrict a = g.gates + row * g.gates_row;
  T* __restrict h = g.h + row * g.state_row;
  FB_IVDEP
  for (int64_t j = 0; j < g.units; ++j) scalar::rnn::plain<is_relu>(a[j], h[j]);
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
  for (int64_t j = 0; j < n; ++j)
    scalar::rnn::lstm_backward(i[j], f[j], z[j], o[j], c_before[j], d_h[j], d_c[j], d_i[j], d_f[j],
                               d_z[j], d_o[j]);
  if (!g.projected) return;
  T* __restrict h = g.projected + row * g.projected_row;
  FB_IVDEP
  for (int64_t j = 0; j < n; ++j)
    h[j] = scalar::rnn::lstm_output(i[j], f[j], z[j], o[j], c_before[j]);
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
  for (int64_t j = 0; j < n; ++j)
    scalar::rnn::gru_backward(s[j], r[j], z[j], fresh[j], h_before[j], d_h[j], d_s[j], d_r[j],
                              d_z[j], d_fresh[j]);
}

template <class T, bool is_relu>
FB_FN void plain_backward(const RnnGatesBackward<T>& g, int64_t row) {
  const T* __restrict h = g.gates + row * g.gates_row;
  const T* __restrict d_h = g.d_h + row * g.state_row;
  T* __restrict d = g.d_gates + row * g.d_gates_row;
  FB_IVDEP
  for (int64_t j = 0; j < g.units; ++j) d[j] = scalar::rnn::plain_backward<is_relu>(h[j], d_h[j]);
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
