// Bit operations on integers and bool.
#pragma once

#include "scalar/types.h"

namespace fb::scalar {

template <class T>
FB_FN T bitwise_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
FB_FN T bitwise_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
FB_FN T bitwise_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <class T>
FB_FN T bitwise_not(T a) {
  if constexpr (kIsBool<T>)
    return !a;
  else
    return static_cast<T>(~a);
}

// Whether b is a number of bits that the hardware shifts T by.
template <class T>
FB_FN bool shifts(T b) {
  return !(b < T(0)) & (b < T(sizeof(T) * 8));
}

// A count that is negative or too large shifts everything out.
template <class T>
FB_FN T bitwise_left_shift(T a, T b) {
  using Bits = unsigned long long;
  return shifts(b) ? static_cast<T>(static_cast<Bits>(a) << (static_cast<unsigned>(b) & 63u))
                   : T(0);
}
template <class T>
FB_FN T bitwise_right_shift(T a, T b) {
  const unsigned count =
      shifts(b) ? static_cast<unsigned>(b) : static_cast<unsigned>(sizeof(T) * 8 - 1);
  const T shifted = static_cast<T>(a >> count);
  return shifts(b) || kIsSigned<T> ? shifted : T(0);
}

}  // namespace fb::scalar
