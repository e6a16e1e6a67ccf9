// Activation functions of neural networks.
#pragma once

#include "scalar/arith.h"
#include "scalar/explog.h"

namespace fb::scalar {

template <class T>
FB_FN T relu(T x) {
  return x < T(0) ? T(0) : x;
}
// clamp with bounds that are not NaN.
template <class T>
FB_FN T hardtanh(T x, T low, T high) {
  const T above = x < low ? low : x;
  return above > high ? high : above;
}
template <class T>
FB_FN T relu6(T x) {
  if constexpr (kIsFloat<T>)
    return math::clamp_to_six(x);
  else
    return hardtanh(x, T(0), T(6));
}
template <class T>
FB_FN T leaky_relu(T x, T negative_slope) {
  return x > T(0) ? x : x * negative_slope;
}
template <class T>
FB_FN T prelu_kernel(T x, T weight) {
  return leaky_relu(x, weight);
}
template <class T>
FB_FN T threshold(T x, T limit, T value) {
  return x <= limit ? value : x;
}

// A constant times x, rounded once: what a float lacks of the constant counts as well.
FB_FN float times_exact(double factor, float x) {
  const math::Fine high = static_cast<math::Fine>(factor);
  const math::Fine low = static_cast<math::Fine>(factor - double(high));
  return static_cast<float>(x * high + x * low);
}
FB_FN double times_exact(double factor, double x) { return factor * x; }
template <class T>
FB_FN T times_exact(double factor, math::Split<T> x) {
  const T high = T(factor), low = T(factor - double(high));
  return math::fused(x.hi, high, x.hi * low + x.lo * high);
}

template <class T>
FB_FN T elu(T x, T alpha) {
  const T negative = alpha * math::expm1_to_zero(x).hi;
  return x > T(0) ? x : negative;
}
template <class T>
FB_FN T celu(T x, T alpha) {
  const T negative = alpha * math::expm1(x / alpha);  // alpha may be negative
  return x > T(0) ? x : negative;
}
// alpha and scale make the mean and variance of a standard normal input a fixed point
// (Klambauer et al., "Self-normalizing neural networks", 2017).
template <class T>
FB_FN T selu(T x) {
  constexpr double scale = 1.0507009873554804934193349852946;
  constexpr double alpha = 1.6732632423543772848170429916717;
  const T negative = times_exact(scale * alpha, math::expm1_to_zero(x));
  // A zero keeps its sign this way round; g++ 11 loses it in the other branch.
  return x < T(0) ? negative : T(scale) * x;
}

template <class T>
FB_FN T gelu(T x) {
  return math::gelu(x);
}
// 0.5 (1 + tanh(u)) is logistic(2 u).
template <class T>
FB_FN T gelu_tanh(T x) {
  constexpr T twice_sqrt_two_over_pi = T(1.5957691216057307);
  return x * logistic(twice_sqrt_two_over_pi * (x + T(0.044715) * x * x * x));
}

template <class T>
FB_FN T gated(T x, T gate) {
  return x / (T(1) + math::exp(-gate));
}
template <class T>
FB_FN T silu(T x) {
  return x / (T(1) + math::exp(-x));
}

// x tanh(softplus(x)); with e = exp(x), tanh(log(1 + e)) = (e^2 + 2 e) / (e^2 + 2 e + 2).
template <class T>
FB_FN T mish(T x) {
  const T e = math::exp(x < T(20) ? x : T(20));
  const T n = math::fused(e, e, e + e);
  return x < T(20) ? x * (n / (n + T(2))) : x;
}

template <class T>
FB_FN T hardsigmoid(T x) {
  return times_exact(1.0 / 6, math::clamp_to_six(x + T(3)));
}
template <class T>
FB_FN T hardswish(T x) {
  return x * hardsigmoid(x);
}
// log(1 + exp(beta x)) / beta, and x itself where beta x > threshold.
template <class T>
FB_FN T softplus(T x, T beta, T threshold) {
  const T scaled = beta * x;
  const T value = ((scaled > T(0) ? scaled : T(0)) + math::log1p_exp(-math::abs(scaled))) / beta;
  return scaled > threshold ? x : value;
}

template <class T>
FB_FN T logsigmoid(T x) {
  return (x < T(0) ? x : T(0)) - math::log1p_exp(-math::abs(x));
}

template <class T>
FB_FN T softsign(T x) {
  return x / T(RealOf<T>(1) + math::abs(x));
}
template <class T>
FB_FN T tanhshrink(T x) {
  return x - math::tanh(x);
}
template <class T>
FB_FN T softshrink(T x, T lambd) {
  const T inside = x != x ? x : T(0);
  return math::abs(x) > lambd ? x - math::copysign(lambd, x) : inside;
}
template <class T>
FB_FN T hardshrink(T x, T lambd) {
  return (x >= -lambd) & (x <= lambd) ? T(0) : x;
}

}  // namespace fb::scalar
