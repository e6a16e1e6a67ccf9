// Orthogonal polynomials of degree n at x, computed in double whatever the element type. The degree
// is truncated to an integer; a negative one gives zero.
#pragma once

#include "scalar/math.h"
#include "scalar/orthogonal_large.h"

namespace fb::scalar {

namespace detail {

using Degree = long long;

// NaN and what no integer holds count as negative.
FB_FN Degree degree_of(double n) { return n > -1.0 && n < 9.2e18 ? static_cast<Degree>(n) : -1; }

// p_n from p_0 = 1 and p_1, where p_(k+1) = step(k, p_k, p_(k-1)).
template <class Step>
FB_FN double by_recurrence(Degree n, double first, Step step) {
  if (n < 0) return 0.0;
  if (n == 0) return 1.0;
  double before = 1.0, value = first;
  for (Degree k = 1; k < n && value == value; ++k) {
    const double next = step(static_cast<double>(k), value, before);
    before = value;
    value = next;
  }
  return value;
}

// With x = cos(t): cos(n t), sin((n + 1) t) / sin(t), cos((n + 1/2) t) / cos(t / 2) and
// sin((n + 1/2) t) / sin(t / 2).
enum class Chebyshev { kT, kU, kV, kW };

// From this degree on those formulas are used for |x| < 1.
inline constexpr Degree kTrigonometric = 9;

FB_FN double chebyshev_trigonometric(Chebyshev kind, double x, double n) {
  const double t = math::acos(x);
  switch (kind) {
    case Chebyshev::kT: return math::cos(n * t);
    case Chebyshev::kU: return math::sin((n + 1.0) * t) / math::sin(t);
    case Chebyshev::kV: return math::cos((n + 0.5) * t) / math::cos(0.5 * t);
    default: return math::sin((n + 0.5) * t) / math::sin(0.5 * t);
  }
}

// The same with x = cosh(t), beyond 1.
FB_FN double chebyshev_hyperbolic(Chebyshev kind, double x, double n) {
  const double t = math::acosh(x);
  switch (kind) {
    case Chebyshev::kT: return math::cosh(n * t);
    case Chebyshev::kU: return math::sinh((n + 1.0) * t) / math::sinh(t);
    case Chebyshev::kV: return math::cosh((n + 0.5) * t) / math::cosh(0.5 * t);
    default: return math::sinh((n + 0.5) * t) / math::sinh(0.5 * t);
  }
}

FB_FN double chebyshev_at_one(Chebyshev kind, double n) {
  if (kind == Chebyshev::kU) return n + 1.0;
  return kind == Chebyshev::kW ? 2.0 * n + 1.0 : 1.0;
}

// For x >= 0, where no formula loses digits by subtraction.
FB_FN double chebyshev_right(Chebyshev kind, double x, Degree n) {
  if (n < 0) return 0.0;
  if (n == 0) return 1.0;
  if (x == 1.0) return chebyshev_at_one(kind, static_cast<double>(n));
  if (n >= kTrigonometric && x < 1.0)
    return chebyshev_trigonometric(kind, x, static_cast<double>(n));
  if (n >= kLargeDegree && x < math::infinity<double>())
    return chebyshev_hyperbolic(kind, x, static_cast<double>(n));
  const double twice = 2.0 * x;
  const double shift = kind == Chebyshev::kV ? -1.0 : kind == Chebyshev::kW ? 1.0 : 0.0;
  const double value =
      by_recurrence(n, kind == Chebyshev::kT ? x : twice + shift,
                    [=](double, double value, double before) { return twice * value - before; });
  // Beyond 1 the values only grow: infinity minus infinity is infinity there.
  return value != value && x > 1.0 ? math::infinity<double>() : value;
}

// Reflection changes the sign of odd degrees, and V into W.
FB_FN double chebyshev(Chebyshev kind, double x, double degree) {
  const Degree n = degree_of(degree);
  if (!(x < 0.0)) return chebyshev_right(kind, x, n);
  const Chebyshev mirrored = kind == Chebyshev::kV   ? Chebyshev::kW
                             : kind == Chebyshev::kW ? Chebyshev::kV
                                                     : kind;
  const double value = chebyshev_right(mirrored, -x, n);
  return n % 2 == 0 ? value : -value;
}

FB_FN double hermite_h(double x, Degree n) {
  return by_recurrence(n, 2.0 * x, [=](double k, double value, double before) {
    return 2.0 * (x * value - k * before);
  });
}
FB_FN double hermite_he(double x, Degree n) {
  return by_recurrence(
      n, x, [=](double k, double value, double before) { return x * value - k * before; });
}
FB_FN double laguerre_l(double x, Degree n) {
  if (x == 0.0 && n >= 0) return 1.0;
  if (n >= kLargeDegree && x == x) {
    const auto degree = static_cast<double>(n);
    return x < 0.0 ? laguerre_large_left(x, degree) : laguerre_large_right(x, degree);
  }
  return by_recurrence(n, 1.0 - x, [=](double k, double value, double before) {
    return ((2.0 * k + 1.0 - x) * value - k * before) / (k + 1.0);
  });
}
FB_FN double legendre_p(double x, Degree n) {
  if (math::abs(x) == 1.0 && n >= 0) return x < 0.0 && n % 2 != 0 ? -1.0 : 1.0;
  if (n >= kLargeDegree && x == x) {
    const double a = math::abs(x), degree = static_cast<double>(n);
    const double value =
        a < 1.0 ? legendre_large_within(a, degree) : legendre_large_beyond(a, degree);
    return x < 0.0 && n % 2 != 0 ? -value : value;
  }
  return by_recurrence(n, x, [=](double k, double value, double before) {
    return ((2.0 * k + 1.0) * x * value - k * before) / (k + 1.0);
  });
}

}  // namespace detail

template <class T>
FB_FN T chebyshev_polynomial_t(T x, T n) {
  return static_cast<T>(detail::chebyshev(detail::Chebyshev::kT, x, n));
}
template <class T>
FB_FN T chebyshev_polynomial_u(T x, T n) {
  return static_cast<T>(detail::chebyshev(detail::Chebyshev::kU, x, n));
}
template <class T>
FB_FN T chebyshev_polynomial_v(T x, T n) {
  return static_cast<T>(detail::chebyshev(detail::Chebyshev::kV, x, n));
}
template <class T>
FB_FN T chebyshev_polynomial_w(T x, T n) {
  return static_cast<T>(detail::chebyshev(detail::Chebyshev::kW, x, n));
}

// The same on [0, 1].
template <class T>
FB_FN T shifted_chebyshev_polynomial_t(T x, T n) {
  return static_cast<T>(detail::chebyshev(detail::Chebyshev::kT, 2.0 * x - 1.0, n));
}
template <class T>
FB_FN T shifted_chebyshev_polynomial_u(T x, T n) {
  return static_cast<T>(detail::chebyshev(detail::Chebyshev::kU, 2.0 * x - 1.0, n));
}
template <class T>
FB_FN T shifted_chebyshev_polynomial_v(T x, T n) {
  return static_cast<T>(detail::chebyshev(detail::Chebyshev::kV, 2.0 * x - 1.0, n));
}
template <class T>
FB_FN T shifted_chebyshev_polynomial_w(T x, T n) {
  return static_cast<T>(detail::chebyshev(detail::Chebyshev::kW, 2.0 * x - 1.0, n));
}

template <class T>
FB_FN T hermite_polynomial_h(T x, T n) {
  return static_cast<T>(detail::hermite_h(x, detail::degree_of(n)));
}
template <class T>
FB_FN T hermite_polynomial_he(T x, T n) {
  return static_cast<T>(detail::hermite_he(x, detail::degree_of(n)));
}
template <class T>
FB_FN T laguerre_polynomial_l(T x, T n) {
  return static_cast<T>(detail::laguerre_l(x, detail::degree_of(n)));
}
template <class T>
FB_FN T legendre_polynomial_p(T x, T n) {
  return static_cast<T>(detail::legendre_p(x, detail::degree_of(n)));
}

}  // namespace fb::scalar
