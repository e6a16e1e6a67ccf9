// exp and its relatives for float and double, branch-free, within about one unit in the last place.
#pragma once

#include "scalar/math/basic.h"

namespace fb::math {

// x = k ln 2 + r with |r| <= ln 2 / 2, and expm1(r) by a minimax polynomial.
template <class T>
struct ExpParts {
  T tail;  // expm1(r)
  IntOf<T> k;
};

// (exp(r) - 1 - r) / r^2
FB_FN float exp_polynomial(float r) {
  return polynomial(r, 0.5f, 0.16666667f, 0.041666362f, 0.008333273f, 0.0013940643f,
                    0.00019914014f);
}
FB_FN double exp_polynomial(double r) {
  return polynomial(r, 0.5, 0.16666666666666677, 0.0416666666666667, 0.008333333333321938,
                    0.0013888888888866715, 0.0001984126988542929, 2.4801587361078603e-05,
                    2.7557244850236893e-06, 2.7557242189613525e-07, 2.5108830534923305e-08,
                    2.092463910259114e-09);
}

// ln 2 in two parts; the first is short enough that k * kLn2Hi does not round.
template <class T>
inline constexpr T kLn2Hi = T(0.6931471806019545);
template <class T>
inline constexpr T kLn2Lo = T(-4.2009150726810846e-11);
template <>
inline constexpr float kLn2Hi<float> = 0.693359375f;
template <>
inline constexpr float kLn2Lo<float> = -2.1219444e-4f;

// Below kExpUnderflow exp(x) is zero, above kExpOverflow infinite; between them scale() reaches
// everything.
template <class T>
inline constexpr T kExpUnderflow = T(-746.0);
template <class T>
inline constexpr T kExpOverflow = T(710.0);
template <>
inline constexpr float kExpUnderflow<float> = -104.5f;
template <>
inline constexpr float kExpOverflow<float> = 89.0f;

template <class T>
FB_FN ExpParts<T> exp_parts(T x) {
  const Rounded<T> n = round_small(x * kLog2E<T>);
  const T r = (x - n.value * kLn2Hi<T>)-n.value * kLn2Lo<T>;
  return {r + r * r * exp_polynomial(r), n.integer};
}

// NaN passes through both comparisons.
template <class T>
FB_FN T clamp_nan(T x, T low, T high) {
  const T above = x < low ? low : x;
  return above > high ? high : above;
}

template <class T>
FB_FN T exp(T x) {
  const ExpParts<T> parts = exp_parts(clamp_nan(x, kExpUnderflow<T>, kExpOverflow<T>));
  return scale(T(1) + parts.tail, parts.k);
}

template <class T>
FB_FN T exp2(T x) {
  constexpr T limit = T(sizeof(T) == 4 ? 152 : 1078);
  const T clamped = clamp_nan(x, -limit, limit);
  const Rounded<T> n = round_small(clamped);
  const T r = (clamped - n.value) * kLn2<T>;
  return scale(T(1) + (r + r * r * exp_polynomial(r)), n.integer);
}

// expm1(x) / 2, which does not overflow before sinh does. The range is the caller's to keep.
template <class T>
FB_FN T half_expm1(T x) {
  const ExpParts<T> parts = exp_parts(x);
  const T quarter = power_of_two<T>(parts.k - 2);  // representable up to the end, unlike 2^k
  return T(2) * (quarter * parts.tail + (quarter - T(0.25)));
}

template <class T>
FB_FN T expm1(T x) {
  constexpr T saturation = T(sizeof(T) == 4 ? -18.0 : -38.0);  // expm1 is -1 to working precision
  const T result = T(2) * half_expm1(clamp_nan(x, saturation, kExpOverflow<T>));
  return abs(x) < T(16) * Format<T>::kMinNormal ? x : result;  // keeps the sign of zero
}

}  // namespace fb::math
