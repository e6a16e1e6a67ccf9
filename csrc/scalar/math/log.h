// Logarithms for float and double, branch-free, within about one unit in the last place.
#pragma once

#include "scalar/math/exp.h"

namespace fb::math {

// x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), for positive finite x.
template <class T>
struct LogParts {
  T f;
  T k;
};
template <class T>
FB_FN LogParts<T> log_parts_normal(T x) {
  using F = Format<T>;
  using UInt = UIntOf<T>;
  // Shifting the number line by sqrt(1/2) makes the exponent field change there and not at 1.
  const UInt origin = bits_of(kSqrtHalf<T>);
  const UInt shifted = bits_of(x) - origin;
  constexpr UInt mantissa = (UInt(1) << F::kMantissaBits) - 1;
  const T f = bit_cast<T>((shifted & mantissa) + origin) - T(1);
  // The biased exponent, dropped into the mantissa of 2^kMantissaBits, becomes a number by
  // subtraction.
  constexpr T base = T(1ll << F::kMantissaBits);
  const UInt biased = (shifted + (UInt(F::kBias) << F::kMantissaBits)) >> F::kMantissaBits;
  return {f, bit_cast<T>(biased | bits_of(base)) - (base + T(F::kBias))};
}
template <class T>
FB_FN LogParts<T> log_parts(T x) {
  constexpr int shift = Format<T>::kMantissaBits + 2;
  const bool subnormal = x < Format<T>::kMinNormal;
  const LogParts<T> parts = log_parts_normal(subnormal ? x * T(1ll << shift) : x);
  return {parts.f, parts.k - (subnormal ? T(shift) : T(0))};
}

// log(1 + f) - f on the interval of LogParts, times the constant `unit`, and a small `rest`: small
// against f, so that its own error does not show.
FB_FN float log_tail(float f, float unit, float rest) {
  const Fine x = f;
  const Fine p =
      polynomial(x, unit * 0.33333316f, unit * -0.250008f, unit * 0.20002289f, unit * -0.16624914f,
                 unit * 0.1418121f, unit * -0.13125674f, unit * 0.12880915f, unit * -0.07866544f);
  const Fine square = x * x, bend = x * p - unit * 0.5f;
  const Fine lost =
      sizeof(Fine) == sizeof(float) ? product_error(f, f, static_cast<float>(square)) : 0;
  return static_cast<float>(square * bend + (lost * bend + rest));
}
FB_FN double log_tail(double f, double unit, double rest) {
  const double s = f / (2.0 + f);  // log(1 + f) = 2 atanh(s)
  const double z = s * s;
  const double p =
      polynomial(z, 0.6666666666666734, 0.39999999999414115, 0.2857142874255451, 0.2222219855115026,
                 0.1818356574096865, 0.15314007467377985, 0.1479644720768574);
  const double half_square = 0.5 * f * f;
  return unit * (s * (half_square + z * p) - half_square) + rest;
}

// Inserts the values of a logarithm at zero, below zero, at infinity and at NaN.
template <class T>
FB_FN T with_log_limits(T x, T result) {
  const T left = x == T(0) ? -infinity<T>() : quiet_nan<T>();
  const T finite = x > T(0) ? result : left;
  return x < infinity<T>() ? finite : x;
}

template <class T>
FB_FN T log(T x) {
  const LogParts<T> parts = log_parts(x);
  const T low = log_tail(parts.f, T(1), parts.k * kLn2Lo<T>);
  return with_log_limits(x, parts.k * kLn2Hi<T> + (parts.f + low));
}

// log(x) to some thirty bits, for results that are rounded to float and normal x.
FB_FN double log_for_float(double x) {
  const LogParts<double> parts = log_parts_normal(x);
  const double series =
      polynomial(parts.f, 0.9999999999587357, -0.4999998828969837, 0.33333326004225167,
                 -0.250015865641959, 0.20001967938959037, -0.16609012135772686, 0.14181844735039856,
                 -0.1324347622839152, 0.12904608159825362, -0.07621018641926743);
  return parts.k * kLn2<double> + parts.f * series;
}

// log(1 + f) to a base other than e, whose logarithm is 1 / (unit + low).
template <class T>
FB_FN T log_in_units(T f, T unit, T low) {
  return fused(f, unit, log_tail(f, unit, f * low));
}

template <class T>
FB_FN T log2(T x) {
  constexpr T low = T(1.44269504088896340736 - double(kLog2E<T>));  // 0 for double, 2e-8 for float
  const LogParts<T> parts = log_parts(x);
  return with_log_limits(x, parts.k + log_in_units(parts.f, kLog2E<T>, low));
}

// log10(2) in two parts, as kLn2Hi and kLn2Lo.
template <class T>
inline constexpr T kLog10Of2Hi = T(0.3010299956658855);
template <class T>
inline constexpr T kLog10Of2Lo = T(-1.9043128467164274e-12);
template <>
inline constexpr float kLog10Of2Hi<float> = 0.3010254f;
template <>
inline constexpr float kLog10Of2Lo<float> = 4.605039e-06f;

template <class T>
FB_FN T log10(T x) {
  constexpr double exact = 0.43429448190325182765;
  constexpr T log10_e = T(exact), low = T(exact - double(log10_e));
  const LogParts<T> parts = log_parts(x);
  const T mantissa = log_in_units(parts.f, log10_e, low);
  return with_log_limits(x, parts.k * kLog10Of2Hi<T> + (mantissa + parts.k * kLog10Of2Lo<T>));
}

template <class T>
FB_FN T log1p(T x) {
  const T sum = T(1) + x;
  const T k = log_parts_normal(sum).k;
  // 2^-k (1 + x) - 1 = f + error, both exact, which undoes the rounding of 1 + x.
  const T down = T(0.25) * round_to_power<2>(-k).power;  // subnormal at the top
  const T f = down * x + (down - T(1));
  const T error = down * x - (f - (down - T(1)));
  const T low = log_tail(f, T(1), error + k * kLn2Lo<T>);
  return copysign(with_log_limits(sum, k * kLn2Hi<T> + (f + low)), x);  // keeps the sign of zero
}

// log(1 + exp(x)) for x <= 0, as in log1p, corrected by the rounding error of exp(x).
FB_FN float log1p_exp(float x) {
  const ExpParts<float> parts = exp_parts(x < Opaque<float>::kExpLow ? Opaque<float>::kExpLow : x);
  const float tail = exp_tail(parts.r), mantissa = 1.0f + tail;
  const float e = scale(mantissa, parts.k);
  const float e_lost = e * (((1.0f - mantissa) + tail) + parts.lost);
  const bool upper = e > 0.41421357f;  // sqrt(2) - 1
  const float down = upper ? 0.5f : 1.0f, k = upper ? 1.0f : 0.0f;
  const float f = down * e + (down - 1.0f);
  const float error = down * e - (f - (down - 1.0f)) + down * e_lost;
  return k * kLn2Hi<float> + (f + log_tail(f, 1.0f, error + k * kLn2Lo<float>));
}
FB_FN double log1p_exp(double x) { return log1p(exp(x)); }

}  // namespace fb::math
