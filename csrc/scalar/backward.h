// First derivatives of the most common functions, times the gradient `g`.
#pragma once

#include "scalar/complex.h"
#include "scalar/explog.h"

namespace fb::scalar {

template <class T>
FB_FN T square_backward(T g, T x) {
  return g * conj_physical(x + x);
}
// The quotient is divided again, as y^2 may overflow.
template <class T>
FB_FN T div_backward(T g, T x, T y) {
  return -g * conj_physical(x / y / y);
}
template <class T>
FB_FN T reciprocal_backward(T g, T y) {
  return -g * conj_physical(y * y);
}
template <class T>
FB_FN T tanh_backward(T g, T y) {
  return g * conj_physical(T(1) - y * y);
}
template <class T>
FB_FN T sigmoid_backward(T g, T y) {
  return g * conj_physical(y * (T(1) - y));
}
template <class T>
FB_FN T silu_backward(T g, T x) {
  const T s = logistic(x);
  return g * conj_physical(s * (T(1) + x * (T(1) - s)));
}

// At NaN the slope is that of PyTorch's vectors: NaN where the function curves, 0 where it is flat
// but for one piece, 1 for relu.
template <class T>
FB_FN T threshold_backward(T g, T x, T threshold) {
  return x <= threshold ? T(0) : g;
}
template <class T>
FB_FN T hardtanh_backward(T g, T x, T low, T high) {
  return (x > low) & (x < high) ? g : T(0);
}
template <class T>
FB_FN T shrink_backward(T g, T x, T lambd) {
  return (x < -lambd) | (x > lambd) ? g : T(0);
}
template <class T>
FB_FN T leaky_relu_backward(T g, T x, T negative_slope) {
  return x > T(0) ? g : g * negative_slope;
}
template <class T>
FB_FN T elu_backward(T g, T x, T positive, T negative, T rate) {
  const T below = g * negative * math::exp(x * rate);
  return x > T(0) ? g * positive : below;
}
template <class T>
FB_FN T softplus_backward(T g, T x, T beta, T threshold) {
  const T scaled = beta * x;
  const T value = g * logistic(scaled);
  return scaled > threshold ? g : value;
}
template <class T>
FB_FN T hardswish_backward(T g, T x) {
  const T rising = x >= T(3) ? g : g * (x * T(1.0 / 3) + T(0.5));
  return math::zero_where(x <= T(-3), rising);
}

template <class T>
FB_FN T gelu_backward(T g, T x) {
  constexpr T density_at_zero = T(0.39894228040143267794);
  return g * (math::normal_cdf(x) + x * density_at_zero * math::exp(T(-0.5) * x * x));
}
// With s = logistic(2 u), gelu is x s, and its derivative s + x s (1 - s) 2 u'.
template <class T>
FB_FN T gelu_tanh_backward(T g, T x) {
  constexpr T twice_sqrt_two_over_pi = T(1.5957691216057307);
  const T square = x * x;
  const T s = logistic(twice_sqrt_two_over_pi * x * (T(1) + T(0.044715) * square));
  const T slope = twice_sqrt_two_over_pi * (T(1) + T(3 * 0.044715) * square);
  return g * (s + x * s * (T(1) - s) * slope);
}

template <class T>
FB_FN T glu_gate_backward(T g, T x, T gate) {
  const T s = logistic(gate);
  return g * x * s * (T(1) - s);
}
// With e = exp(x) and n = e (e + 2), t = tanh(log(1 + e)) is n / (n + 2), and 1 - t^2 is
// 4 (1 + n) / (n + 2)^2, whose 1 + n is (1 + e)^2.
template <class T>
FB_FN T mish_backward(T g, T x) {
  const T e = math::exp(x < T(20) ? x : T(20));
  const T r = T(1) / (e * (e + T(2)) + T(2));
  const T slope = e * r * ((e + T(2)) + T(4) * x * (T(1) + e) * r);
  return x >= T(20) ? g : g * slope;
}
template <class T>
FB_FN T hardsigmoid_backward(T g, T x) {
  return (x > T(-3)) & (x < T(3)) ? g * T(1.0 / 6) : T(0);
}
template <class T>
FB_FN T logsigmoid_backward(T g, T x) {
  return g * logistic(-x);
}
template <class T>
FB_FN T tanhshrink_backward(T g, T x) {
  const T y = math::tanh(x);
  return g * conj_physical(y * y);
}

}  // namespace fb::scalar
