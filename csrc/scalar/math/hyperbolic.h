// Hyperbolic functions and their inverses for float and double, on top of expm1 and log1p.
#pragma once

#include "scalar/math/log.h"

namespace fb::math {

// Where sinh and cosh overflow, with room to spare; quarter_exp is finite up to here.
template <class T>
inline constexpr T kSinhOverflow = T(sizeof(T) == 4 ? 89.7 : 710.5);

// sinh(x) / x - 1 for z = x^2 up to 1
FB_FN float sinh_tail(float z) {
  return odd_tail(z, 0.16666667f, 0.008333311f, 0.00019842635f, 2.7839255e-06f);
}
FB_FN double sinh_tail(double z) {
  return odd_tail(z, 0.16666666666666488, 0.008333333333353725, 0.00019841269832314196,
                  2.755732118155207e-06, 2.5051881657691444e-08, 1.607206646081555e-10,
                  7.392179998216802e-13);
}

template <class T>
FB_FN T sinh(T x) {
  const T a = abs(x);
  const Split<T> quarter = quarter_exp(clamp_nan(a, T(0), kSinhOverflow<T>), T(0));
  const T half = T(2) * (quarter.hi + quarter.lo);  // exp(|x|) / 2
  const T far = T(2) * quarter.hi + (T(2) * quarter.lo - T(0.25) / half);
  return a < T(1) ? fused(x, sinh_tail(x * x), x) : copysign(far, x);
}

template <class T>
FB_FN T cosh(T x) {
  const Split<T> quarter = quarter_exp(clamp_nan(abs(x), T(0), kSinhOverflow<T>), T(0));
  const T half = T(2) * (quarter.hi + quarter.lo);  // exp(|x|) / 2
  return T(2) * quarter.hi + (T(2) * quarter.lo + T(0.25) / half);
}

// A polynomial up to 0.95, and 1 - 2 / (exp(2 |x|) + 1) from there, where the quotient is small.
FB_FN float tanh(float x) {
  const float a = abs(x);
  const float tail = odd_tail(x * x, -0.33333313f, 0.13332747f, -0.053909652f, 0.02158804f,
                              -0.0081194155f, 0.0024464896f, -0.00040579078f);
  const ExpParts<float> parts = exp_parts(a > 10.0f ? 20.0f : 2.0f * a);
  const float power = power_of_two<float>(parts.k);
  const float far = 1.0f - 2.0f / ((power + 1.0f) + power * exp_tail(parts.r));
  return a < 0.95f ? fused(x, tail, x) : copysign(far, x);
}
FB_FN double tanh(double x) {
  const Split<double> quarter = quarter_exp(clamp_nan(2.0 * abs(x), 0.0, 40.0), -1.0);
  const double half = 2.0 * (quarter.hi + quarter.lo);  // expm1(2 |x|) / 2
  return copysign(half / (half + 1.0), x);
}

// Inverse functions of a float are logarithms in double, whose sums and products lose nothing that
// shows; below kInverseIsIdentity the result is the argument.
inline constexpr float kInverseIsIdentity = 0x1p-12f;

FB_FN float asinh(float x) {
  const double a = abs(x);
  const float value = static_cast<float>(log_for_float(a + sqrt(a * a + 1.0)));
  return (abs(x) > kInverseIsIdentity) & is_finite(x) ? copysign(value, x) : x;
}
FB_FN float acosh(float x) {
  const double wide = x;
  const double root = sqrt((wide - 1.0) * (wide + 1.0));
  const float value = static_cast<float>(log_for_float(wide + root));
  return x >= 1.0f ? (is_finite(x) ? value : x) : quiet_nan<float>();
}
FB_FN float atanh(float x) {
  const double a = abs(x);
  const float value = static_cast<float>(0.5 * log_for_float((1.0 + a) / (1.0 - a)));
  const float far = a < 1.0 ? value : (a == 1.0 ? infinity<float>() : quiet_nan<float>());
  return abs(x) > kInverseIsIdentity ? copysign(far, x) : x;
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
