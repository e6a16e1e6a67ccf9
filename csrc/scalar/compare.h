// Comparisons, predicates, logic and selection.
#pragma once

#include "scalar/math.h"
#include "scalar/math/complex.h"

namespace fb::scalar {

template <class T>
FB_FN bool eq(T a, T b) {
  return a == b;
}
template <class T>
FB_FN bool ne(T a, T b) {
  return a != b;
}
template <class T>
FB_FN bool lt(T a, T b) {
  return a < b;
}
template <class T>
FB_FN bool le(T a, T b) {
  return a <= b;
}
template <class T>
FB_FN bool gt(T a, T b) {
  return a > b;
}
template <class T>
FB_FN bool ge(T a, T b) {
  return a >= b;
}

template <class T>
FB_FN bool isnan(T a) {
  return a != a;
}
template <class T>
FB_FN bool isinf(T a) {
  if constexpr (kIsComplex<T>)
    return isinf(a.re) | isinf(a.im);
  else if constexpr (kIsFloat<T>)
    return math::abs(a) == math::infinity<T>();
  else
    return false;
}
template <class T>
FB_FN bool isfinite(T a) {
  if constexpr (kIsComplex<T>)
    return isfinite(a.re) & isfinite(a.im);
  else if constexpr (kIsFloat<T>)
    return math::is_finite(a);
  else
    return true;
}
template <class T>
FB_FN bool isposinf(T a) {
  if constexpr (kIsFloat<T>)
    return a == math::infinity<T>();
  else
    return false;
}
template <class T>
FB_FN bool isneginf(T a) {
  if constexpr (kIsFloat<T>)
    return a == -math::infinity<T>();
  else
    return false;
}

template <class T>
FB_FN bool isreal(T a) {
  if constexpr (kIsComplex<T>)
    return a.im == 0;
  else
    return true;
}

// Equal, or within atol + rtol |b|; infinities are close to themselves only.
template <class T>
FB_FN bool is_close(T a, T b, T rtol, T atol, T equal_nan) {
  using Real = RealOf<T>;
  const Real distance = math::abs(a - b);
  const Real allowed = math::abs(atol) + math::abs(rtol * b);
  const bool near = (distance <= allowed) & math::is_finite(distance);
  const bool both_nan = (equal_nan != T(0)) & (a != a) & (b != b);
  return (a == b) | near | both_nan;
}

template <class T>
FB_FN bool is_nonzero(T a) {
  if constexpr (kIsComplex<T>)
    return (a.re != 0) | (a.im != 0);
  else
    return a != T(0);
}
template <class T>
FB_FN bool logical_and(T a, T b) {
  return is_nonzero(a) & is_nonzero(b);
}
template <class T>
FB_FN bool logical_or(T a, T b) {
  return is_nonzero(a) | is_nonzero(b);
}
template <class T>
FB_FN bool logical_xor(T a, T b) {
  return is_nonzero(a) != is_nonzero(b);
}
template <class T>
FB_FN bool logical_not(T a) {
  return !is_nonzero(a);
}

template <class T>
FB_FN T where(bool condition, T yes, T no) {
  return select(condition, yes, no);
}

}  // namespace fb::scalar
