// exp and its relatives for float and double, branch-free, within about one unit in the last place.
#pragma once

#include "scalar/math/basic.h"
#include "scalar/math/opaque.h"

namespace fb::math {

// x = k ln 2 + r + lost with |r| <= ln 2 / 2, where r is rounded and `lost` is the rounding error.
template <class T>
struct ExpParts {
  T r;
  T lost;
  IntOf<T> k;
};

// (exp(r) - 1 - r) / r^2. T is float, double, or in kernels a vector of them.
template <class T>
FB_FN T exp_polynomial(T r) {
  if constexpr (sizeof(RealOf<T>) == sizeof(float))
    return polynomial(r, 0.49999994f, 0.16666521f, 0.041668255f, 0.008368662f, 0.0013821453f);
  else
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

// A bias moves the interval of r upwards.
template <class T>
FB_FN ExpParts<T> exp_parts(T x, T bias = T(0)) {
  const Rounded<T> n = round_small((x - bias) * kLog2E<T>);
  const T high = x - n.value * kLn2Hi<T>;
  const T r = high - n.value * kLn2Lo<T>;
  return {r, (high - r) - n.value * kLn2Lo<T>, n.integer};
}

// x = k ln 2 + r and 2^(k + offset).
template <class T>
struct ExpPower {
  T r;
  T power;
};
template <int kOffset, class T>
FB_FN ExpPower<T> exp_power(T x, T bias = T(0)) {
  const RoundedPower<T> n = round_to_power<kOffset>((x - bias) * kLog2E<T>);
  return {(x - n.value * kLn2Hi<T>)-n.value * kLn2Lo<T>, n.power};
}

// exp(r) - 1
template <class T>
FB_FN T exp_tail(T r) {
  return r + r * r * exp_polynomial(r);
}

// exp(r). With fused products this order of sums is the most accurate.
template <class T>
FB_FN T exp_reduced(T r) {
  using Real = RealOf<T>;
  if constexpr (sizeof(Real) == sizeof(float) && sizeof(Fine) == sizeof(float))
    return fused(r, fused(r, exp_polynomial(r), Real(1)), Real(1));
  else
    return Real(1) + exp_tail(r);
}

template <class T>
FB_FN T exp(T x) {
  const ExpParts<T> parts = exp_parts(clamp_nan(x, Opaque<T>::kExpLow, Opaque<T>::kExpHigh));
  return scale(exp_reduced(parts.r), parts.k);
}

// 2^f for |f| <= 1/2
FB_FN float exp2_reduced(float f) {
  const Fine x = f;
  const Fine bend =
      polynomial(x, 0.24022648f, 0.055503596f, 0.009618499f, 0.0013390969f, 0.00015329264f);
  return static_cast<float>(x * (x * bend + 0.6931472f) + 1.0f);
}
FB_FN double exp2_reduced(double f) { return 1.0 + exp_tail(f * kLn2<double>); }

template <class T>
FB_FN T exp2(T x) {
  const T clamped = clamp_nan(x, Opaque<T>::kExp2Low, Opaque<T>::kExp2High);
  const Rounded<T> n = round_small(clamped);
  return scale(exp2_reduced(clamped - n.value), n.integer);
}

// exp(x) to some thirty bits, for results that are rounded to float and |x| < 700.
FB_FN double exp_for_float(double x) {
  const double exponent = x * kLog2E<double>;
  const RoundedPower<double> n = round_to_power<0>(exponent);
  const double mantissa = polynomial(
      exponent - n.value, 1.0000000005541874, 0.693147205737199, 0.24022646890480134,
      0.055503287770744626, 0.009618488973744923, 0.0013399931184474166, 0.00015345807542013813);
  return mantissa * n.power;
}

// (1 + r - exp(r)) / r^2 for |r| <= 1/2
FB_FN float expm1_slope(float r) {
  return polynomial(r, -0.50000006f, -0.16666667f, -0.041665096f, -0.00833323f, -0.0014004266f,
                    -0.00019933133f);
}

// Takes exp(r) from 3/4 to 3/2, for which exp(r) - 1 has the smallest rounding errors.
inline constexpr float kExpm1Bias = 0.0575f;

// Up to 1/2 a polynomial; powers of two beyond, where little cancels. The negated polynomial keeps
// the sign of zero.
FB_FN float expm1(float x) {
  const float clamped = clamp_nan(x, Opaque<float>::kExpm1Low, Opaque<float>::kExpHigh);
  // Half the power is representable up to the end.
  const ExpPower<float> half = exp_power<-1>(clamped, kExpm1Bias);
  const bool near = abs(x) < 0.5f;
  const float r = near ? x : half.r;
  const float negative = fused(r * r, expm1_slope(r), -r);
  const float whole = half.power - 0.5f, lost = (half.power - whole) - 0.5f;
  const float far = 2.0f * (whole + (lost - half.power * negative));
  return near ? -negative : far;
}

// The same for x <= 0, where 2^k - 1 is exact enough, corrected by the rounding error of the
// polynomial; undefined for x > 0.
FB_FN Split<float> expm1_to_zero(float x) {
  const ExpPower<float> parts =
      exp_power<0>(x < Opaque<float>::kExpm1Low ? Opaque<float>::kExpm1Low : x);
  const bool near = x > -0.5f;
  const float r = near ? x : parts.r, square = r * r, slope = expm1_slope(r);
  const float negative = fused(square, slope, -r);
  const float lost = fused(square, slope, -r - negative);
  const float far = (parts.power - 1.0f) - parts.power * negative;
  return {near ? -negative : far, near ? -lost : 0.0f};
}

// (exp(x) + constant) / 4 for a constant of 0 or -1: a quarter is representable up to the end,
// unlike 2^k. The caller checks the range.
FB_FN Split<double> quarter_exp(double x, double constant) {
  const ExpParts<double> parts = exp_parts(x);
  const double quarter = power_of_two<double>(parts.k - 2);
  const double whole = quarter + 0.25 * constant, part = quarter * parts.r;
  const double hi = whole + part;
  const double rest = parts.r * parts.r * exp_polynomial(parts.r) + parts.lost;
  const double lost = ((quarter - whole) + 0.25 * constant) + ((whole - hi) + part);
  return {hi, lost + quarter * rest};
}
FB_FN double expm1(double x) {
  const Split<double> quarter =
      quarter_exp(clamp_nan(x, Opaque<double>::kExpm1Low, Opaque<double>::kExpHigh), -1.0);
  const double result = 4.0 * (quarter.hi + quarter.lo);
  return abs(x) < 16.0 * Format<double>::kMinNormal ? x : result;  // keeps the sign of zero
}

FB_FN Split<double> expm1_to_zero(double x) { return {expm1(x), 0.0}; }

// 1 / (1 + exp(-x)). The divisor and its reciprocal are each corrected by their rounding errors.
// The divisor is kept in units of 2^32, because it would overflow before the result vanishes.
FB_FN float sigmoid(float x) {
  constexpr float unit = 0x1p-32f;
  const ExpPower<float> parts =
      exp_power<-32>(-clamp_nan(x, Opaque<float>::kSigmoidLow, Opaque<float>::kSigmoidHigh));
  const float tail = exp_tail(parts.r), power = parts.power;
  const float whole = power + unit;
  const float divisor = whole + power * tail;
  const float lost = ((whole - divisor) + power * tail) + (unit - (whole - power));
  const float inverse = 1.0f / divisor;
  const float excess = product_error(inverse, divisor, 1.0f) + inverse * lost;
  return (inverse - inverse * excess) * unit;
}
FB_FN double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

}  // namespace fb::math
