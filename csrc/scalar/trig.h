// Trigonometric and hyperbolic functions.
#pragma once

#include "scalar/math.h"
#include "scalar/math/complex.h"

namespace fb::scalar {

template <class T>
FB_FN T sin(T x) {
  return math::sin(x);
}
template <class T>
FB_FN T cos(T x) {
  return math::cos(x);
}
template <class T>
FB_FN T tan(T x) {
  return math::tan(x);
}
template <class T>
FB_FN T asin(T x) {
  return math::asin(x);
}
template <class T>
FB_FN T acos(T x) {
  return math::acos(x);
}
template <class T>
FB_FN T atan(T x) {
  return math::atan(x);
}
template <class T>
FB_FN T atan2(T y, T x) {
  return math::atan2(y, x);
}
template <class T>
FB_FN T sinh(T x) {
  return math::sinh(x);
}
template <class T>
FB_FN T cosh(T x) {
  return math::cosh(x);
}
template <class T>
FB_FN T tanh(T x) {
  return math::tanh(x);
}
template <class T>
FB_FN T asinh(T x) {
  return math::asinh(x);
}
template <class T>
FB_FN T acosh(T x) {
  return math::acosh(x);
}
template <class T>
FB_FN T atanh(T x) {
  return math::atanh(x);
}

#if !defined(__CUDACC__)  // see Note [Range checks] in scalar/arith.h
template <class T>
FB_FN bool sin_has_range(T x) {
  return math::angle_has_range(x);
}
template <class T>
FB_FN bool cos_has_range(T x) {
  return math::angle_has_range(x);
}
template <class T>
FB_FN bool tan_has_range(T x) {
  return math::tan_has_range(x);
}
template <class T>
FB_FN T sin_in_range(T x) {
  return math::sin_in_range(x);
}
template <class T>
FB_FN T cos_in_range(T x) {
  return math::cos_in_range(x);
}
template <class T>
FB_FN T tan_in_range(T x) {
  return math::tan_in_range(x);
}
#endif

// sin(pi x) / (pi x), 1 at zero.
template <class T>
FB_FN T sinc(T x) {
  const T scaled = x * T(math::kPi<RealOf<T>>);
  return x == T(0) ? T(1) : math::sin(scaled) / scaled;
}

template <class T>
FB_FN T deg2rad(T x) {
  return x * T(0.017453292519943295769);
}
template <class T>
FB_FN T rad2deg(T x) {
  return x * T(57.295779513082320877);
}

}  // namespace fb::scalar
