// The incomplete gamma functions. Scalar series, computed in double whatever the element type.
#pragma once

#include "scalar/special/gamma.h"

namespace fb::scalar {

namespace detail {

// Where the uniform expansion holds to the last digit: a from kIgammaLarge on, and x within this
// fraction of a.
inline constexpr double kIgammaLarge = 200.0;
inline constexpr double kIgammaNear = 0.3;

// log(1 + x) - x to relative precision, for |x| <= kIgammaNear.
FB_FN double log1p_minus(double x) {
  // With s = x / (2 + x), log(1 + x) = 2 s + 2/3 s^3 + 2/5 s^5 + ..., and 2 s - x = -x s.
  constexpr double terms[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                              2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  const double s = x / (2.0 + x), z = s * s;
  return s * (z * horner(z, terms) - x);
}

// Both incomplete gamma functions start from x^a exp(-x) / gamma(a). For large a its parts are huge
// and cancel; Stirling's formula avoids that.
FB_FN double igamma_prefactor(double a, double x) {
  if (a < kAsymptotic) return math::exp(a * math::log(x) - x - math::lgamma(a));
  // B(2k) / (2k (2k - 1))
  constexpr double terms[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                              1.0 / 1188, -691.0 / 360360, 1.0 / 156};
  const double stirling = horner(1.0 / (a * a), terms) / a;
  const double root = math::sqrt(a / (2.0 * math::kPi<double>));
  const double mu = (x - a) / a;
  const double exponent = math::abs(mu) > kIgammaNear ? math::log(x / a) - mu : log1p_minus(mu);
  return root * math::exp(a * exponent - stirling);
}

// N. M. Temme, "The asymptotic expansion of the incomplete gamma functions" (1979): with mu = x/a -
// 1 and eta^2 / 2 = mu - log(1 + mu), Q is erfc(eta sqrt(a/2)) / 2 and a correction, a series in
// 1/a whose coefficients are the power series in eta below.
FB_FN double igamma_uniform(double a, double mu, bool upper) {
  constexpr double c0[] = {-0.3333333333333333,    0.08333333333333333,     -0.014814814814814815,
                           0.0011574074074074073,  0.0003527336860670194,   -0.0001787551440329218,
                           3.919263178522438e-05,  -2.185448510679992e-06,  -1.85406221071516e-06,
                           8.296711340953087e-07,  -1.7665952736826078e-07, 6.707853543401498e-09,
                           1.0261809784240309e-08, -4.382036018453353e-09,  9.14769958223679e-10};
  constexpr double c1[] = {-0.001851851851851852,   -0.003472222222222222,  0.0026455026455026454,
                           -0.0009902263374485596,  0.00020576131687242798, -4.018775720164609e-07,
                           -1.8098550334489977e-05, 7.64916091608111e-06,   -1.6120900894563446e-06,
                           4.647127802807434e-09,   1.378633446915721e-07,  -5.752545603517705e-08};
  constexpr double c2[] = {0.004133597883597883,    -0.0026813271604938273, 0.0007716049382716049,
                           2.0093878600823047e-06,  -0.0001073665322636516, 5.2923448829120125e-05,
                           -1.2760635188618728e-05, 3.423578734096138e-08,  1.3721957309062934e-06};
  constexpr double c3[] = {0.0006494341563786008,  0.00022947209362139917, -0.0004691894943952557,
                           0.00026772063206283885, -7.561801671883977e-05, -2.396505113867297e-07,
                           1.1082654115347302e-05};
  constexpr double c4[] = {-0.0008618882909167117, 0.0007840392217200666, -0.0002990724803031902,
                           -1.4638452578843418e-06, 6.641498215465122e-05};
  constexpr double c5[] = {-0.00033679855336635813, -6.972813758365857e-05};
  const double half_square = -log1p_minus(mu);
  const double eta = math::copysign(math::sqrt(2.0 * half_square), mu);
  const double orders[] = {horner(eta, c0), horner(eta, c1), horner(eta, c2),
                           horner(eta, c3), horner(eta, c4), horner(eta, c5)};
  const double correction = math::exp(-a * half_square) * horner(1.0 / a, orders) /
                            math::sqrt(2.0 * math::kPi<double> * a);
  const double side = upper ? 1.0 : -1.0;
  return 0.5 * math::erfc(side * eta * math::sqrt(0.5 * a)) + side * correction;
}

// Far more terms than are needed where the expansion for large a is not used.
inline constexpr int kIgammaTerms = 2000;

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

// P or, if `upper`, Q = 1 - P. The series gives P and the fraction Q. Near x = a either works and
// the series is faster, but 1 - P loses digits. For large a neither converges there, and the
// uniform expansion is used.
FB_FN double incomplete_gamma(double a, double x, bool upper, double exact) {
  const double all = upper ? 0.0 : 1.0, none = 1.0 - all;
  if (!(a >= 0.0) || !(x >= 0.0)) return math::quiet_nan<double>();
  if (a == 0.0) return x > 0.0 ? all : math::quiet_nan<double>();
  if (x == 0.0) return none;
  if (a == math::infinity<double>()) return x == a ? math::quiet_nan<double>() : none;
  if (x == math::infinity<double>()) return all;
  const double mu = (x - a) / a;
  if (a >= kIgammaLarge && math::abs(mu) <= kIgammaNear) return igamma_uniform(a, mu, upper);
  if (x <= 1.0 || x <= (upper ? a : a + 1.0)) {
    const double lower = igamma_series(a, x, exact);
    return upper ? 1.0 - lower : lower;
  }
  const double rest = igammac_fraction(a, x, exact);
  return upper ? rest : 1.0 - rest;
}

}  // namespace detail

template <class T>
FB_FN T igamma(T a, T x) {
  return static_cast<T>(detail::incomplete_gamma(a, x, false, detail::kExact<T>));
}
template <class T>
FB_FN T igammac(T a, T x) {
  return static_cast<T>(detail::incomplete_gamma(a, x, true, detail::kExact<T>));
}

}  // namespace fb::scalar
