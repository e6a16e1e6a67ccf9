// Orthogonal polynomials of degrees so high that a recurrence would take too long: leading terms of
// their expansions in Bessel functions, whose errors fall with the square of the degree.
#pragma once

#include "scalar/math.h"
#include "scalar/special/bessel.h"

namespace fb::scalar::detail {

// From this degree on. The expansions agree with the recurrences to 8 digits here.
inline constexpr long long kLargeDegree = 100000;

// With x = cos(t), 0 <= x < 1: Hilb's formula with one correction.
FB_FN double legendre_large_within(double x, double n) {
  const double t = math::acos(x), order = n + 0.5;
  const double correction = (1.0 / t - math::cos(t) / math::sin(t)) / (8.0 * order);
  return math::sqrt(t / math::sin(t)) * (math::j0(order * t) - correction * math::j1(order * t));
}
// With x = cosh(t), x > 1.
FB_FN double legendre_large_beyond(double x, double n) {
  const double t = math::acosh(x), order = n + 0.5;
  if (!(order * t < 800.0)) return math::infinity<double>();
  const double correction = (math::cosh(t) / math::sinh(t) - 1.0 / t) / (8.0 * order);
  return math::sqrt(t / math::sinh(t)) * (i0(order * t) + correction * i1(order * t));
}

// Erdelyi's formula on both sides of zero. Values overflow long before x is near 4 n.
FB_FN double laguerre_large_right(double x, double n) {
  const double scale = 4.0 * n + 2.0, t = x / scale, root = math::sqrt(t);
  if (!(t < 1.0)) return math::infinity<double>();
  const double rise = math::sqrt(t * (1.0 - t)), bend = 0.5 * (rise + math::asin(root));
  return math::exp(0.5 * x) * math::sqrt(bend / rise) * math::j0(scale * bend);
}
FB_FN double laguerre_large_left(double x, double n) {
  const double scale = 4.0 * n + 2.0, t = -x / scale, root = math::sqrt(t);
  if (!(t < 1.0)) return math::infinity<double>();
  const double rise = math::sqrt(t * (1.0 + t)), bend = 0.5 * (rise + math::asinh(root));
  return math::exp(0.5 * x + scale * bend) * math::sqrt(bend / rise) * i0e(scale * bend);
}

}  // namespace fb::scalar::detail
