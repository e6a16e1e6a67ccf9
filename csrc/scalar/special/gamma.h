// Functions around the gamma function. Scalar series, computed in double whatever the element type.
#pragma once

#include "scalar/math.h"

namespace fb::scalar {

namespace detail {

inline constexpr double kEpsilon = math::Format<double>::kEpsilon;

// Where sums of T may stop that are taken in double.
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

// One power at a time, for which the library is quicker than what vectorises.
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
  sum += power * a / (x - 1.0) - 0.5 * power;
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

// Both incomplete gamma functions start from x^a exp(-x) / gamma(a).
FB_FN double igamma_prefactor(double a, double x) {
  return math::exp(a * math::log(x) - x - math::lgamma(a));
}

// Terms needed grow with sqrt(a) where x is near a; this many serve a = 10^7.
inline constexpr int kIgammaTerms = 20000;

// P(a, x) for x below a or little above, by its power series, to a relative error of `exact`.
FB_FN double igamma_series(double a, double x, double exact) {
  double term = 1.0 / a, sum = term, n = a;
  for (int k = 0; k < kIgammaTerms && term > exact * sum; ++k) {
    n += 1.0;
    term *= x / n;
    sum += term;
  }
  return sum * igamma_prefactor(a, x);
}

// Q(a, x) for x above a, by its continued fraction 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)).
// Numerators and denominators of its convergents are carried along by recurrence.
FB_FN double igammac_fraction(double a, double x, double exact) {
  double b = x + 1.0 - a;
  double top_before = 0.0, top = 1.0, bottom_before = 1.0, bottom = b, value = top / bottom;
  for (int k = 1; k < kIgammaTerms; ++k) {
    const double numerator = -k * (k - a);
    b += 2.0;
    const double next_top = b * top + numerator * top_before;
    const double next_bottom = b * bottom + numerator * bottom_before;
    const double next = next_top / next_bottom;
    const double change = math::abs(next - value);
    // Made smaller together, so that they do not overflow.
    const double scale = math::abs(next_bottom) > 1e100 ? 1e-100 : 1.0;
    top_before = top * scale;
    bottom_before = bottom * scale;
    top = next_top * scale;
    bottom = next_bottom * scale;
    value = next;
    if (change <= exact * math::abs(next)) break;
  }
  return value * igamma_prefactor(a, x);
}

// P or, as `upper` says, Q = 1 - P. The series gives P and the fraction Q; near x = a both would
// do, and there the series is quicker, but 1 - P loses digits.
FB_FN double incomplete_gamma(double a, double x, bool upper, double exact) {
  const double all = upper ? 0.0 : 1.0, none = 1.0 - all;
  if (!(a >= 0.0) || !(x >= 0.0)) return math::quiet_nan<double>();
  if (a == 0.0) return x > 0.0 ? all : math::quiet_nan<double>();
  if (x == 0.0) return none;
  if (a == math::infinity<double>()) return x == a ? math::quiet_nan<double>() : none;
  if (x == math::infinity<double>()) return all;
  if (x <= 1.0 || x <= (upper ? a : a + 1.0)) {
    const double lower = igamma_series(a, x, exact);
    return upper ? 1.0 - lower : lower;
  }
  const double rest = igammac_fraction(a, x, exact);
  return upper ? rest : 1.0 - rest;
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
template <class T>
FB_FN T igamma(T a, T x) {
  return static_cast<T>(detail::incomplete_gamma(a, x, false, detail::kExact<T>));
}
template <class T>
FB_FN T igammac(T a, T x) {
  return static_cast<T>(detail::incomplete_gamma(a, x, true, detail::kExact<T>));
}

}  // namespace fb::scalar
