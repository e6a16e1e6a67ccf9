// Powers with real exponents for float and double.
#pragma once

#include "scalar/math/log.h"

namespace fb::math {

// x^y for positive finite x, by way of double, in which 2^(y log2 x) keeps all of a float's digits.
FB_FN float pow_positive(float x, float y) {
  const LogParts<double> parts = log_parts_normal(static_cast<double>(x));
  const double log2_mantissa =
      parts.f * polynomial(parts.f, 1.4426950408685177, -0.7213475208723168, 0.4808983615002681,
                           -0.36067367431413666, 0.2885372838995849, -0.24045318089661544,
                           0.2061756707782065, -0.1803006174422294, 0.1587656460197241,
                           -0.14315195271104084, 0.144767206011493, -0.1428746096850437,
                           0.07737989836833861);
  const double exponent =
      clamp_nan(y * (parts.k + log2_mantissa), static_cast<double>(Opaque<float>::kExp2Low),
                static_cast<double>(Opaque<float>::kExp2High));
  const Rounded<double> n = round_small(exponent);
  const double r = exponent - n.value;
  const double mantissa =
      polynomial(r, 1.0000000005557546, 0.6931472057701088, 0.2402264688451486, 0.05550328708581726,
                 0.009618489355892849, 0.0013399958517711233, 0.00015345765414552282);
  return static_cast<float>(mantissa * power_of_two<double>(n.integer));
}

// A number as the unevaluated sum of two doubles: about 106 bits.
struct Pair {
  double hi;
  double lo;
};
// The exact sum where |a| >= |b|.
FB_FN Pair ordered_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}
FB_FN Pair product(Pair a, Pair b) {
  const double hi = a.hi * b.hi;
  return {hi, product_error(a.hi, b.hi, hi) + (a.hi * b.lo + a.lo * b.hi)};
}

// log2(x) to about 65 bits, which y log2 x needs where the result is near the ends of double's
// range.
FB_FN Pair log2_pair(double x) {
  const LogParts<double> parts = log_parts(x);
  const double f = parts.f;
  // s = f / (2 + f), so that log(1 + f) = 2 s + 2/3 s^3 + 2/5 s^5 + ...
  const Pair divisor = ordered_sum(2.0, f);
  const double inverse = 1.0 / divisor.hi;
  const double quotient = f * inverse;
  const double back = quotient * divisor.hi;
  const double rest =
      (f - back) - product_error(quotient, divisor.hi, back) - quotient * divisor.lo;
  const Pair s = {quotient, rest * inverse};
  const Pair z = product(s, s);
  const double tail =
      z.hi * polynomial(z.hi, 0.4000000000000204, 0.285714285701855, 0.22222222506713016,
                        0.18181785386771995, 0.1538671518335293, 0.13257709729135406,
                        0.13188730118895936);
  Pair series = ordered_sum(0.6666666666666666, tail);
  series.lo += 3.700743415417188e-17;  // the rounding error of 2/3
  const Pair cubic = product(product(s, z), series);
  Pair natural = ordered_sum(2.0 * s.hi, cubic.hi);
  natural.lo += 2.0 * s.lo + cubic.lo;
  const Pair fraction = product(natural, {1.4426950408889634, 2.0355273740931033e-17});
  const Pair sum = ordered_sum(parts.k, fraction.hi);
  // For k = 0 the order is reversed, but the sum is exact anyway.
  return {sum.hi, sum.lo + fraction.lo};
}

FB_FN double pow_positive(double x, double y) {
  constexpr double limit = 1100.0;
  const Pair log2_x = log2_pair(x);
  const double hi = y * log2_x.hi;
  const double lo = product_error(y, log2_x.hi, hi) + y * log2_x.lo;
  const double exponent = clamp_nan(hi, -limit, limit);
  const Rounded<double> n = round_small(exponent);
  const double r = ((exponent - n.value) + (abs(hi) < limit ? lo : 0.0)) * kLn2<double>;
  return scale(1.0 + (r + r * r * exp_polynomial(r)), n.integer);
}

// pow(x, 0) and pow(1, y) are 1 even for NaN; a negative base needs a whole exponent. Conditions
// are joined by & and |, because && and || would branch and keep the loop from vectorising.
template <class T>
FB_FN T pow(T x, T y) {
  const T a = abs(x);
  const T limit = (a > T(1)) == (y > T(0)) ? infinity<T>() : T(0);
  const bool extreme = (a == T(0)) | (a == infinity<T>()) | (abs(y) == infinity<T>());
  T magnitude = pow_positive(a, y);
  magnitude = extreme ? limit : magnitude;
  magnitude = is_nan(x) | is_nan(y) ? x + y : magnitude;
  magnitude = (a == T(1)) & !is_nan(y) ? T(1) : magnitude;
  const T half = T(0.5) * y;
  const bool whole = rint(y) == y;
  const bool odd = whole & (rint(half) != half);
  const T signed_power = odd ? copysign(magnitude, x) : magnitude;
  const bool undefined = (x < T(0)) & !whole & (a < infinity<T>());
  const T result = undefined ? quiet_nan<T>() : signed_power;
  return (y == T(0)) | (x == T(1)) ? T(1) : result;
}

}  // namespace fb::math
