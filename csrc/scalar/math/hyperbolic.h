// Hyperbolic functions and their inverses for float and double, on top of expm1 and log1p.
#pragma once

#include "scalar/math/log.h"

namespace fb::math {

// Up to here sinh is a polynomial; beyond, little cancels between exp(x) and exp(-x).
inline constexpr float kSinhSwitch = 0.7f;
// Takes exp(r) from 3/4 to 3/2, for which exp(r) - 1 has the smallest rounding errors.
inline constexpr float kSinhBias = 0.0589f;

// 2^(-k - 2) of 2^(k - 2) for 0 <= k <= 129: quarters are representable up to the end. It is zero
// where it is negligible.
FB_FN float opposite_quarter(float power) {
  const int bits = static_cast<int>(bits_of(0.0625f) + bits_of(1.0f) - bits_of(power));
  return bit_cast<float>(bits < 0 ? 0 : bits);
}
// (sinh(r) - r) / r^3 and (cosh(r) - 1) / r^2 for z = r^2.
FB_FN float sinh_slope(float z) { return horner(z, 0.16666673f, 0.008332553f, 0.00020108736f); }
FB_FN float cosh_slope(float z) { return horner(z, 0.5f, 0.041666277f, 0.0013952713f); }

FB_FN float sinh(float x) {
  const float a = abs(x);
  const ExpPower<float> up = exp_power<-2>(clamp_above(a, Opaque<float>::kSinhHigh), kSinhBias);
  const bool near = a < kSinhSwitch;
  const float r = near ? a : up.r, z = r * r;
  const float odd = r * z * sinh_slope(z), even = z * cosh_slope(z);
  const float down = opposite_quarter(up.power);
  const float inverse = down + down * ((even - odd) - r);
  const float far = 2.0f * (up.power + (up.power * r + (up.power * (even + odd) - inverse)));
  return copysign(near ? r + odd : far, x);
}
FB_FN float cosh(float x) {
  const ExpPower<float> up =
      exp_power<-2>(clamp_above(abs(x), Opaque<float>::kSinhHigh), kSinhBias);
  const float r = up.r, z = r * r;
  const float down = opposite_quarter(up.power);
  const float whole = up.power + down, difference = up.power - down;
  const float lost = down - (whole - up.power);
  const float slope = difference * (r * sinh_slope(z)) + whole * cosh_slope(z);
  return 2.0f * (whole + fused(difference, r, z * slope + lost));
}

// A polynomial up to 0.95, and 1 - 2 / (exp(2 |x|) + 1) from there, where the quotient is small.
FB_FN float tanh(float x) {
  const float a = abs(x);
  const Fine wide = a, z = wide * wide;
  const Fine tail = z * horner<Fine>(z, -0.33333313f, 0.13332747f, -0.053909652f, 0.02158804f,
                                     -0.008119415f, 0.0024464873f, -0.00040578932f);
  const float twice = clamp_above(a + a, Opaque<float>::kTanhHigh);
  const RoundedPower<float> n = round_to_power<0>(twice * kLog2E<float>);
  const float growth = exp_tail(twice - n.value * kLn2<float>);
  const float far = 1.0f - 2.0f / ((n.power + 1.0f) + n.power * growth);
  return copysign(a < 0.95f ? static_cast<float>(wide * tail + wide) : far, x);
}

// sinh(x) / x - 1 for z = x^2 up to 1
FB_FN double sinh_tail(double z) {
  return odd_tail(z, 0.16666666666666488, 0.008333333333353725, 0.00019841269832314196,
                  2.755732118155207e-06, 2.5051881657691444e-08, 1.607206646081555e-10,
                  7.392179998216802e-13);
}
FB_FN double sinh(double x) {
  const double a = abs(x);
  const Split<double> quarter = quarter_exp(clamp_above(a, Opaque<double>::kSinhHigh), 0.0);
  const double half = 2.0 * (quarter.hi + quarter.lo);  // exp(|x|) / 2
  const double far = 2.0 * quarter.hi + (2.0 * quarter.lo - 0.25 / half);
  return a < 1.0 ? x * sinh_tail(x * x) + x : copysign(far, x);
}
FB_FN double cosh(double x) {
  const Split<double> quarter = quarter_exp(clamp_above(abs(x), Opaque<double>::kSinhHigh), 0.0);
  const double half = 2.0 * (quarter.hi + quarter.lo);  // exp(|x|) / 2
  return 2.0 * quarter.hi + (2.0 * quarter.lo + 0.25 / half);
}
FB_FN double tanh(double x) {
  const Split<double> quarter =
      quarter_exp(clamp_above(2.0 * abs(x), Opaque<double>::kTanhHigh), -1.0);
  const double half = 2.0 * (quarter.hi + quarter.lo);  // expm1(2 |x|) / 2
  return copysign(half / (half + 1.0), x);
}

// asinh and acosh of a float are logarithms in double, whose rounding errors do not show; below
// kAsinhIsIdentity the result is the argument.
inline constexpr float kAsinhIsIdentity = 0x1p-12f;

FB_FN float asinh(float x) {
  const double a = abs(x);
  const float value = static_cast<float>(log_for_float(a + sqrt(a * a + 1.0)));
  return (abs(x) > kAsinhIsIdentity) & is_finite(x) ? copysign(value, x) : x;
}
FB_FN float acosh(float x) {
  const double wide = x;
  const double root = sqrt(wide * wide - 1.0);
  const float value = static_cast<float>(log_for_float(wide + root));
  return x >= 1.0f ? (is_finite(x) ? value : x) : quiet_nan<float>();
}
// (1 + a) / (1 - a) = 2^k (1 + g) / (1 - g), so that atanh(a) = k ln 2 / 2 + atanh(g). The bits of
// both numbers tell k, which stays 0 until the sum cancels little.
FB_FN float atanh(float x) {
  const float a = abs(x);
  const unsigned ratio = bits_of(1.0f + a) - bits_of(1.0f - a);
  const int k = a < 0.3f ? 0 : static_cast<int>(ratio + (1u << 22)) >> 23;
  const float power = power_of_two<float>(k);
  const float plus = 1.0f + power, minus = 1.0f - power;
  const float over = k > 23 ? 0.0f : fused(a, plus, minus);  // negligible next to 1
  const float under = fused(a, minus, plus);
  const float g = over / under;
  const float lost = -product_error(g, under, over) / under;
  const float z = g * g;
  const float rest =
      g * z * polynomial(z, 0.3333328f, 0.20005563f, 0.14104299f, 0.13396181f) + lost;
  const float turns = static_cast<float>(k), whole = turns * (0.5f * kLn2Hi<float>);
  const float sum = whole + g, sum_lost = (whole - sum) + g;
  const float value = sum + ((rest + turns * (0.5f * kLn2Lo<float>)) + sum_lost);
  const float far = a == 1.0f ? infinity<float>() : quiet_nan<float>();
  return copysign(a < 1.0f ? value : far, x);
}

// Beyond it x * x + 1 is x * x to working precision, and further on it overflows.
inline constexpr double kInverseHyperbolicLarge = 1 << 28;

FB_FN double asinh(double x) {
  const double a = abs(x);
  const bool large = a > kInverseHyperbolicLarge;
  const double square = a * a;
  const double shift = large ? a - 1.0 : a + square / (1.0 + sqrt(1.0 + square));
  return copysign(log1p(shift) + (large ? kLn2<double> : 0.0), x);
}
FB_FN double acosh(double x) {
  const bool large = x > kInverseHyperbolicLarge;
  const double t = x - 1.0;
  const double shift = large ? t : t + sqrt(2.0 * t + t * t);  // NaN below 1
  const double result = log1p(shift) + (large ? kLn2<double> : 0.0);
  return x < 1.0 ? quiet_nan<double>() : result;
}
FB_FN double atanh(double x) {
  const double a = abs(x);
  return copysign(0.5 * log1p(2.0 * a / (1.0 - a)), x);
}

}  // namespace fb::math
