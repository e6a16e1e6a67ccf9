// Derivatives of samples with respect to their parameters, at a fixed probability: if F is the
// distribution function and f the density, dx/da = -(dF/da) / f. Series and continued fractions
// that carry their derivative along, in double precision whatever the element type.
#pragma once

#include "scalar/special/gamma.h"

#if !defined(__CUDACC_RTC__)
#include <math.h>
#endif

namespace fb::scalar {

// How many are needed grows with the root of the parameters; this serves 10^7.
inline constexpr int kSlopeTerms = 20000;

// A number and its derivative with respect to the parameter.
struct Dual {
  double value;
  double slope;
};
inline Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
inline Dual operator*(Dual a, Dual b) {
  return {a.value * b.value, a.slope * b.value + a.value * b.slope};
}
inline Dual operator/(Dual a, Dual b) {
  const double inverse = 1 / b.value;
  const double ratio = a.value * inverse;
  return {ratio, (a.slope - ratio * b.slope) * inverse};
}

// b(0) + a(1) / (b(1) + a(2) / (b(2) + ...)) by Lentz's method.
template <class Numerator, class Denominator>
inline Dual continued_fraction(Numerator a, Denominator b, double tolerance) {
  Dual value = b(0);
  Dual c = value;
  Dual d{0, 0};
  for (int k = 1; k < kSlopeTerms; ++k) {
    d = Dual{1, 0} / (b(k) + a(k) * d);
    c = b(k) + a(k) / c;
    const Dual factor = c * d;
    value = value * factor;
    const bool settled = ::fabs(factor.value - 1) < tolerance &&
                         ::fabs(factor.slope * value.value) <= tolerance * ::fabs(value.slope);
    if (settled) break;
  }
  return value;
}

// P(a, x) = x f(x) / a times the sum of x^n / ((a + 1) ... (a + n)).
inline double gamma_slope_below(double a, double x, double tolerance) {
  Dual term{1, 0};
  Dual sum = term;
  for (int n = 1; n < kSlopeTerms; ++n) {
    term = term * (Dual{x, 0} / Dual{a + n, 1});
    sum = sum + term;
    if (term.value <= tolerance * sum.value && -term.slope <= -tolerance * sum.slope) break;
  }
  const double log_slope = ::log(x) - detail::digamma(a + 1);
  return -x / a * (log_slope * sum.value + sum.slope);
}

// 1 - P(a, x) = x f(x) / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ...)).
inline double gamma_slope_above(double a, double x, double tolerance) {
  const Dual fraction =
      continued_fraction([&](int k) { return Dual{k * (a - k), static_cast<double>(k)}; },
                         [&](int k) { return Dual{x + 2 * k + 1 - a, -1}; }, tolerance);
  const double log_slope = ::log(x) - detail::digamma(a);
  const Dual rest = Dual{1, log_slope} / fraction;
  return x * rest.slope;
}

// A normal number z becomes a gamma number by Cornish and Fisher's expansion in 1 / sqrt(a).
inline double gamma_slope_normal(double a, double x) {
  const double root = ::sqrt(a);
  double z = (x - a) / root;
  const double start = z;
  for (int i = 0; i < 5; ++i) {
    const double z2 = z * z;
    z = start -
        ((z2 - 1) / 3 + z * (z2 - 7) / (36 * root) - (3 * z2 * z2 + 7 * z2 - 16) / (810 * a)) /
            root;
  }
  const double z2 = z * z;
  return 1 + z / (2 * root) - z * (z2 - 7) / (72 * a * root) +
         (3 * z2 * z2 + 7 * z2 - 16) / (810 * a * a);
}

inline double gamma_slope(double a, double x, double tolerance) {
  if (!(a > 0 && x >= 0)) return math::quiet_nan<double>();
  if (x == 0) return 0;
  if (a > 1e4 && ::fabs(x - a) < 8 * ::sqrt(a)) return gamma_slope_normal(a, x);
  return x < a + 1 ? gamma_slope_below(a, x, tolerance) : gamma_slope_above(a, x, tolerance);
}

// The fraction of the incomplete beta function I(x; p, q), of which x^p (1 - x)^q / (p B(p, q)) is
// taken out. It converges for x below about p / (p + q).
inline Dual beta_fraction(Dual p, Dual q, double x, double tolerance) {
  const auto number = [](double value) { return Dual{value, 0}; };
  const auto term = [&](int k) {
    const Dual m = number(k / 2);
    const Dual even = p + number(k - (k % 2));  // p + 2m
    if (k % 2 == 1) return number(-x) * (p + m) * (p + q + m) / (even * (even + number(1)));
    return number(x) * m * (q + number(-k / 2)) / ((even + number(-1)) * even);
  };
  return number(1) / continued_fraction(term, [&](int) { return number(1); }, tolerance);
}

// The derivative of a beta(a, b) number with respect to a, divided by 1 - x.
inline double beta_slope(double a, double b, double x, double tolerance) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1)) return math::quiet_nan<double>();
  if (x == 0) return 0;
  const double log_x = ::log(x);
  if (x < (a + 1) / (a + b + 2)) {
    const Dual fraction = beta_fraction({a, 1}, {b, 0}, x, tolerance);
    const double log_slope = log_x - detail::digamma(a + 1) + detail::digamma(a + b);
    return -x / a * (log_slope * fraction.value + fraction.slope);
  }
  const Dual fraction = beta_fraction({b, 0}, {a, 1}, 1 - x, tolerance);
  const double log_slope = log_x - detail::digamma(a) + detail::digamma(a + b);
  return x / b * (log_slope * fraction.value + fraction.slope);
}

// Where series and fractions may end: well beyond the last digit of T.
template <class T>
inline constexpr double kSlopeTolerance = sizeof(T) == 4 ? 1e-9 : 1e-14;

}  // namespace fb::scalar
