// Exponentials, logarithms, roots and functions built from them.
#pragma once

#include "scalar/math.h"
#include "scalar/math/complex.h"

namespace fb::scalar {

template <class T>
FB_FN T exp(T x) {
  return math::exp(x);
}
template <class T>
FB_FN T exp2(T x) {
  return math::exp2(x);
}
template <class T>
FB_FN T expm1(T x) {
  return math::expm1(x);
}
template <class T>
FB_FN T log(T x) {
  return math::log(x);
}
template <class T>
FB_FN T log2(T x) {
  return math::log2(x);
}
template <class T>
FB_FN T log10(T x) {
  return math::log10(x);
}
template <class T>
FB_FN T log1p(T x) {
  return math::log1p(x);
}
template <class T>
FB_FN T sqrt(T x) {
  return math::sqrt(x);
}

template <class T>
FB_FN T rsqrt(T x) {
  if constexpr (kIsComplex<T>)
    return T(1) / math::sqrt(x);
  else
    return math::rsqrt(x);
}

// sigmoid(x) within two units in the last place, for functions that multiply it.
template <class T>
FB_FN T logistic(T x) {
  return T(1) / (T(1) + math::exp(-x));
}

template <class T>
FB_FN T sigmoid(T x) {
  if constexpr (kIsComplex<T>)
    return logistic(x);
  else
    return math::sigmoid(x);
}

// log(exp(a) + exp(b)), exact for equal infinities.
template <class T>
FB_FN T logaddexp(T a, T b) {
  if constexpr (kIsComplex<T>) {
    return a.re > b.re ? a + math::log1p(math::exp(b - a)) : b + math::log1p(math::exp(a - b));
  } else {
    const T sum = (a > b ? a : b) + math::log1p_exp(-math::abs(a - b));
    return (a == b) & (math::abs(a) == math::infinity<T>()) ? a : sum;
  }
}

template <class T>
FB_FN T logaddexp2(T a, T b) {
  const T sum = (a > b ? a : b) + math::log1p(math::exp2(-math::abs(a - b))) * math::kLog2E<T>;
  return (a == b) & (math::abs(a) == math::infinity<T>()) ? a : sum;
}

// x log(y), 0 where x is 0 unless y is NaN.
template <class T>
FB_FN T xlogy(T x, T y) {
  const T value = x * math::log(y);
  return (x == T(0)) & (y == y) ? T(0) : value;
}

// x is first clamped to [eps, 1 - eps]; a negative eps stands for none.
template <class T>
FB_FN T logit(T x, T eps) {
  const T low = eps < T(0) ? -math::infinity<T>() : eps;
  const T high = eps < T(0) ? math::infinity<T>() : T(1) - eps;
  const T below = x > high ? high : x;
  const T z = x < low ? low : below;
  return math::log(z / (T(1) - z));
}

}  // namespace fb::scalar
