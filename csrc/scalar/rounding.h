// Rounding to integers; integer inputs are returned as they are.
#pragma once

#include "scalar/math.h"

namespace fb::scalar {

template <class T>
FB_FN T floor(T x) {
  if constexpr (kIsFloat<T>)
    return math::floor(x);
  else
    return x;
}
template <class T>
FB_FN T ceil(T x) {
  if constexpr (kIsFloat<T>)
    return math::ceil(x);
  else
    return x;
}
template <class T>
FB_FN T trunc(T x) {
  if constexpr (kIsFloat<T>)
    return math::trunc(x);
  else
    return x;
}
// Half to even.
template <class T>
FB_FN T round(T x) {
  if constexpr (kIsFloat<T>)
    return math::rint(x);
  else
    return x;
}

// To the number of decimals whose power of ten is given; a negative power stands for decimals left
// of the point, where dividing first is exact and multiplying by 0.1 is not.
template <class T>
FB_FN T round_decimals(T x, T power) {
  const T left = math::rint(x / -power) * -power;
  const T right = math::rint(x * power) / power;
  return power < T(0) ? left : right;
}

template <class T>
FB_FN T frac(T x) {
  return x - trunc(x);
}

}  // namespace fb::scalar
