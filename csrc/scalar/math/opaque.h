// Constants whose values the compiler does not see, and the clamps that are made of them.
#pragma once

#include "scalar/math/format.h"

namespace fb::math {

// With a bound that it knows, GCC compares and blends, and computes what follows again for the
// bound itself; with an unknown one it takes the maximum or the minimum. The values are in
// scalar/opaque.cpp.
template <class T>
struct Opaque {
  static const T kExpLow, kExpHigh;          // exp is zero below, infinite above
  static const T kExp2Low, kExp2High;        // the same of exp2
  static const T kExpm1Low;                  // expm1 is -1 below
  static const T kSigmoidLow, kSigmoidHigh;  // sigmoid is zero below, one above
  static const T kSinhHigh;                  // sinh and cosh are infinite above
  static const T kTanhHigh;                  // tanh(x / 2) is one above
  static const T kErfLow, kErfHigh;          // where erf is neither a polynomial nor one
  static const T kErfcHigh;                  // erfc is zero above
  static const T kNormalHigh;                // the normal distribution's tail is zero above
  static const T kOne, kQuarterPi;           // for sums of selected terms
  static const T kZero, kSix;                // where activations that consist of lines bend
  static const T kPiRest;                    // what pi lacks when rounded, relative to it
};
extern template struct Opaque<float>;
extern template struct Opaque<double>;

// NaN passes through.
template <class T>
FB_FN T clamp_above(T x, T high) {
  return x > high ? high : x;
}
template <class T>
FB_FN T clamp_nan(T x, T low, T high) {
  return clamp_above(x < low ? low : x, high);
}
template <class T>
FB_FN T clamp_to_six(T x) {
  return clamp_nan(x, Opaque<T>::kZero, Opaque<T>::kSix);
}

}  // namespace fb::math
