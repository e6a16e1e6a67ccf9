// Functions around the gamma function. Scalar series, computed in double whatever the element type.
#pragma once

#include "scalar/math.h"

namespace fb::scalar {

namespace detail {

inline constexpr double kEpsilon = math::Format<double>::kEpsilon;

// The term at which sums for T, taken in double, may stop.
template <class T>
inline constexpr double kExact = sizeof(T) == sizeof(double) ? kEpsilon : 1e-10;

// Sum of terms[k] x^k.
template <int count>
FB_FN double horner(double x, const double (&terms)[count]) {
  double sum = 0.0;
  for (int k = count - 1; k >= 0; --k) sum = sum * x + terms[k];
  return sum;
}

// Recurrence carries x up to where the asymptotic series in 1 / x^2 is exact to the last digit.
inline constexpr double kAsymptotic = 10.0;

FB_FN double digamma(double x) {
  if (x == 0.0) return math::copysign(math::infinity<double>(), -x);
  double sum = 0.0;
  if (x < 0.0) {
    if (x == math::floor(x)) return math::quiet_nan<double>();
    const double fraction = x - math::rint(x);  // pi times x itself would lose its digits
    sum = -math::kPi<double> / math::tan(math::kPi<double> * fraction);
    x = 1.0 - x;
  }
  for (; x < kAsymptotic; x += 1.0) sum -= 1.0 / x;
  // B(2k) / 2k
  constexpr double terms[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                              1.0 / 132, -691.0 / 32760, 1.0 / 12};
  const double z = x < 1e17 ? 1.0 / (x * x) : 0.0;
  return sum + math::log(x) - 0.5 / x - z * horner(z, terms);
}

FB_FN double trigamma(double x) {
  double sum = 0.0, sign = 1.0;
  if (x < 0.5) {
    const double ratio = math::kPi<double> / math::sin(math::kPi<double> * (x - math::rint(x)));
    sum = -ratio * ratio;
    sign = -1.0;
    x = 1.0 - x;
  }
  for (; x < kAsymptotic; x += 1.0) sum += 1.0 / (x * x);
  // B(2k)
  constexpr double terms[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                              5.0 / 66, -691.0 / 2730, 7.0 / 6};
  const double z = 1.0 / (x * x);
  return sign * (sum + 1.0 / x + 0.5 * z + z / x * horner(z, terms));
}

// One power at a time, for which the C library is faster than vectorisable code.
FB_FN double single_power(double base, double exponent) {
#if defined(__CUDACC__)
  return math::pow(base, exponent);
#else
  return __builtin_pow(base, exponent);
#endif
}

// Hurwitz's zeta function: the sum of (q + k)^-x over k >= 0, by Euler and Maclaurin.
FB_FN double zeta(double x, double q, double exact) {
  if (x == 1.0) return math::infinity<double>();
  if (!(x > 1.0)) return math::quiet_nan<double>();
  if (q <= 0.0) {
    if (q == math::floor(q)) return math::infinity<double>();
    if (x != math::floor(x)) return math::quiet_nan<double>();
  }
  double sum = single_power(q, -x);
  double a = q, power = sum;
  // From here on the expansion below is exact enough.
  const double start = exact > kEpsilon ? 5.0 : 9.0;
  for (double k = 0.0; k < start || a <= start; k += 1.0) {
    a += 1.0;
    power = single_power(a, -x);
    sum += power;
    if (math::abs(power) < exact * math::abs(sum)) return sum;
  }
  // The integral of the rest, which may be representable even if its integrand is not.
  constexpr double lowest = 1e-290;
  const double integral = math::abs(power) < lowest ? single_power(a, 1.0 - x) : power * a;
  sum += integral / (x - 1.0) - 0.5 * power;
  // B(2k) / (2k)!
  constexpr double terms[] = {1.0 / 12,
                              -1.0 / 720,
                              1.0 / 30240,
                              -1.0 / 1209600,
                              1.0 / 47900160,
                              -5.284190138687493e-10,
                              1.3382536530684679e-11,
                              -3.389680296322583e-13,
                              8.586062056277845e-15,
                              -2.174868698558062e-16,
                              5.5090028283602295e-18,
                              -1.3954464685812522e-19};
  double factor = 1.0, rising = 0.0;
  for (const double term : terms) {
    factor *= x + rising;
    power /= a;
    const double step = factor * power * term;
    sum += step;
    if (math::abs(step) < exact * math::abs(sum)) break;
    factor *= x + rising + 1.0;
    power /= a;
    rising += 2.0;
  }
  return sum;
}

}  // namespace detail

template <class T>
FB_FN T lgamma(T x) {
  return math::lgamma(x);
}

// NaN at negative integers, minus or plus infinity at zero by its sign.
template <class T>
FB_FN T digamma(T x) {
  return static_cast<T>(detail::digamma(x));
}

// The n-th derivative of digamma.
template <class T>
FB_FN T polygamma(T x, T n) {
  if (n == T(0)) return digamma(x);
  if (n == T(1)) return static_cast<T>(detail::trigamma(x));
  const double factorial = math::exp(math::lgamma(static_cast<double>(n) + 1.0));
  const double size = factorial * detail::zeta(static_cast<double>(n) + 1.0, x, detail::kExact<T>);
  return static_cast<T>(math::rint(T(0.5) * n) * T(2) == n ? -size : size);
}

template <class T>
FB_FN T zeta(T x, T q) {
  return static_cast<T>(detail::zeta(x, q, detail::kExact<T>));
}

}  // namespace fb::scalar
