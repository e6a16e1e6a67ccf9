// Element functions of arithmetic.
#pragma once

#include "scalar/types.h"

namespace fb::scalar {

template <class T>
FB_FN T add(T a, T b, T alpha) {
  if constexpr (kIsBool<T>) return a || (b && alpha);
  else return static_cast<T>(a + alpha * b);
}

template <class T>
FB_FN T mul(T a, T b) {
  if constexpr (kIsBool<T>) return a && b;
  else return static_cast<T>(a * b);
}

}  // namespace fb::scalar
