// Hyperbolic functions and their inverses for float and double, on top of expm1 and log1p.
#pragma once

#include "scalar/math/log.h"

namespace fb::math {

// Where sinh and cosh overflow, with room to spare; half_expm1 is finite up to here.
template <class T>
inline constexpr T kSinhOverflow = T(sizeof(T) == 4 ? 89.7 : 710.5);

template <class T>
FB_FN T sinh(T x) {
  const T h = half_expm1(clamp_nan(abs(x), T(0), kSinhOverflow<T>));
  const T growth = T(2) * h + T(1);
  return copysign(h + (growth < infinity<T>() ? h / growth : T(0)), x);
}

template <class T>
FB_FN T cosh(T x) {
  const T half = half_expm1(clamp_nan(abs(x), T(0), kSinhOverflow<T>)) + T(0.5);  // exp(|x|) / 2
  return half + T(0.25) / half;
}

template <class T>
FB_FN T tanh(T x) {
  constexpr T saturation = T(sizeof(T) == 4 ? 10.0 : 20.0);
  const T h = half_expm1(clamp_nan(T(2) * abs(x), T(0), T(2) * saturation));
  return copysign(h / (h + T(1)), x);
}

// Beyond it x * x + 1 is x * x to working precision, and further on it overflows.
template <class T>
inline constexpr T kInverseHyperbolicLarge = T(sizeof(T) == 4 ? 1 << 13 : 1 << 28);

template <class T>
FB_FN T asinh(T x) {
  const T a = abs(x);
  const bool large = a > kInverseHyperbolicLarge<T>;
  const T square = a * a;
  const T shift = large ? a - T(1) : a + square / (T(1) + sqrt(T(1) + square));
  return copysign(log1p(shift) + (large ? kLn2<T> : T(0)), x);
}

template <class T>
FB_FN T acosh(T x) {
  const bool large = x > kInverseHyperbolicLarge<T>;
  const T t = x - T(1);
  const T shift = large ? t : t + sqrt(T(2) * t + t * t);  // NaN below 1
  const T result = log1p(shift) + (large ? kLn2<T> : T(0));
  return x < T(1) ? quiet_nan<T>() : result;
}

template <class T>
FB_FN T atanh(T x) {
  const T a = abs(x);
  return copysign(T(0.5) * log1p(T(2) * a / (T(1) - a)), x);
}

}  // namespace fb::math
