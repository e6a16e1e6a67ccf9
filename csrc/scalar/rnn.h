// The gates of recurrent cells and their gradients: one hidden unit of one sequence. Gates hold
// what the activations are applied to, and then their results; c and h the old state, then the new.
// Gates are factors: the last bit that sigmoid gains over logistic is lost in the products.
#pragma once

#include "scalar/activation.h"

namespace fb::scalar::rnn {

template <class T>
FB_FN void lstm(T& i, T& f, T& z, T& o, T& c, T& h) {
  i = logistic(i);
  f = logistic(f);
  z = math::tanh(z);
  o = logistic(o);
  c = f * c + i * z;
  h = o * math::tanh(c);
}

template <class T>
FB_FN void gru(T s, T& r, T& z, T& fresh, T& h) {
  r = logistic(r);
  z = logistic(z);
  fresh = math::tanh(fresh + r * s);
  h = fresh + z * (h - fresh);
}

template <bool is_relu, class T>
FB_FN void plain(T& a, T& h) {
  a = is_relu ? relu(a) : math::tanh(a);
  h = a;
}

// The new h of an LSTM, from its gates.
template <class T>
FB_FN T lstm_output(T i, T f, T z, T o, T c_before) {
  return o * math::tanh(f * c_before + i * z);
}

// d_c: the gradient of the new c, then of the old one.
template <class T>
FB_FN void lstm_backward(T i, T f, T z, T o, T c_before, T d_h, T& d_c, T& d_i, T& d_f, T& d_z,
                         T& d_o) {
  const T squashed = math::tanh(f * c_before + i * z);
  const T d_cell = d_c + d_h * o * (T(1) - squashed * squashed);
  d_o = d_h * squashed * o * (T(1) - o);
  d_i = d_cell * z * i * (T(1) - i);
  d_z = d_cell * i * (T(1) - z * z);
  d_f = d_cell * c_before * f * (T(1) - f);
  d_c = d_cell * f;
}

// d_h: the gradient of the new h, then what of it reaches the old one past the gates.
template <class T>
FB_FN void gru_backward(T s, T r, T z, T fresh, T h_before, T& d_h, T& d_s, T& d_r, T& d_z,
                        T& d_fresh) {
  const T d_n = d_h * (T(1) - z) * (T(1) - fresh * fresh);
  d_fresh = d_n;
  d_s = d_n * r;
  d_r = d_n * s * r * (T(1) - r);
  d_z = d_h * (h_before - fresh) * z * (T(1) - z);
  d_h = d_h * z;
}

template <bool is_relu, class T>
FB_FN T plain_backward(T h, T d_h) {
  return is_relu ? (h > T(0) ? d_h : T(0)) : d_h * (T(1) - h * h);
}

}  // namespace fb::scalar::rnn
