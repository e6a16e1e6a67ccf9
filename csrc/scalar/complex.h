// Parts of complex numbers; a real number counts as one without an imaginary part.
#pragma once

#include "scalar/math.h"
#include "scalar/math/complex.h"

namespace fb::scalar {

template <class T>
FB_FN T conj_physical(T a) {
  if constexpr (kIsComplex<T>)
    return {a.re, -a.im};
  else
    return a;
}

template <class T>
FB_FN RealOf<T> angle(T a) {
  if constexpr (kIsComplex<T>)
    return math::atan2(a.im, a.re);
  else
    return a != a ? a : (a < T(0) ? math::kPi<T> : T(0));
}

template <class T>
FB_FN Complex<T> polar(T size, T angle) {
  return {size * math::cos(angle), size * math::sin(angle)};
}
template <class T>
FB_FN Complex<T> complex(T re, T im) {
  return {re, im};
}

}  // namespace fb::scalar
