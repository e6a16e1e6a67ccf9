// Bit operations on integers and bool.
#pragma once

#include "scalar/arith.h"

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
// Zeros are shifted in, which more machines do with vectors than with copies of the sign. The count
// of a short number stays one that 32 bits have, because GCC narrows what fits into 16 and finds no
// instruction then; a negative one is large without its sign.
template <class T>
FB_FN T bitwise_right_shift(T a, T b) {
  const T sign = a < T(0) ? T(-1) : T(0);
  if constexpr (sizeof(T) < sizeof(int)) {
    const unsigned wide = static_cast<unsigned>(static_cast<int>(b));
    return static_cast<T>(static_cast<T>((a ^ sign) >> (wide < 31u ? wide : 31u)) ^ sign);
  } else {
    using Bits = Wrap<T>;
    const unsigned count =
        shifts(b) ? static_cast<unsigned>(b) : static_cast<unsigned>(sizeof(Bits) * 8 - 1);
    return static_cast<T>(static_cast<T>(static_cast<Bits>(a ^ sign) >> count) ^ sign);
  }
}

}  // namespace fb::scalar
