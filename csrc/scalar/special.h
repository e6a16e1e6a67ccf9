// Special functions: the error function's family, and those of special/.
#pragma once

#include "scalar/explog.h"
#include "scalar/special/airy.h"
#include "scalar/special/bessel.h"
#include "scalar/special/bessel_k.h"
#include "scalar/special/gamma.h"
#include "scalar/special/igamma.h"
#include "scalar/trig.h"

namespace fb::scalar {

template <class T>
FB_FN T erf(T x) {
  return math::erf(x);
}
template <class T>
FB_FN T erfc(T x) {
  return math::erfc(x);
}
template <class T>
FB_FN T erfcx(T x) {
  return math::erfcx(x);
}

namespace detail {

// erfinv(x) / x as a function of w = -log(1 - x^2), after M. Giles, "Approximating the erfinv
// function" (2010).
template <class T>
FB_FN T erfinv_center(T w) {  // w < 5
  return math::polynomial(w - T(2.5), T(1.5014094f), T(0.24664028f), T(-0.0041773869f),
                          T(-0.0012527419f), T(0.00021834444f), T(-4.9633236e-06f),
                          T(-3.4627051e-06f), T(4.661652e-07f), T(2.3232648e-08f),
                          T(-8.7906562e-09f));
}
FB_FN float erfinv_tail(float root) {  // root = sqrt(w) up to the largest float below 1
  return math::polynomial(root - 3.0f, 2.8329771f, 1.0016743f, 0.0094340444f, -0.0076280981f,
                          0.0057718125f, -0.0036497065f, 0.0012789316f, 7.5858828e-05f,
                          -0.0001502924f);
}
FB_FN double erfinv_tail(double root) {  // a starting point for all doubles, good to six digits
  return math::polynomial(root - 4.0, 3.839784127224359, 1.0095028490414097, 0.0012565483538799535,
                          -0.000919310898797572, 0.000330645732156128, -4.487010090860282e-05,
                          3.917761468208165e-05, -7.403066896085368e-05, 3.193025974899043e-05,
                          -4.909387483120718e-07, -1.3237897779429273e-06);
}

// One step of Halley's method on erf(y) = x; near 1 on the complement, which does not cancel.
FB_FN float erfinv_polish(float y, float) { return y; }
FB_FN double erfinv_polish(double y, double a) {
  const double excess = a < 0.5 ? math::erf(y) - a : (1.0 - a) - math::erfc(y);
  const double step = excess * 0.88622692545275801365 * math::exp(y * y);  // sqrt(pi) / 2
  return y - step / (1.0 + y * step);
}

}  // namespace detail

// Infinite at -1 and 1, NaN beyond.
template <class T>
FB_FN T erfinv(T x) {
  const T a = math::abs(x);
  const T w = -math::log((T(1) - a) * (T(1) + a));
  const T center = detail::erfinv_center(w);
  const T tail = detail::erfinv_tail(math::sqrt(w));
  const T y = detail::erfinv_polish(a * (w < T(5) ? center : tail), a);
  const T inside = a == T(1) ? math::infinity<T>() : y;
  return math::copysign(a > T(1) ? math::quiet_nan<T>() : inside, x);
}

// The distribution function of the standard normal, exact to relative precision in the lower tail.
template <class T>
FB_FN T ndtr(T x) {
  return T(0.5) * math::erfc(-x * math::kSqrtHalf<T>);
}

template <class T>
FB_FN T log_ndtr(T x) {
  const T t = x * math::kSqrtHalf<T>;
  const T lower = math::log(T(0.5) * math::erfcx(-t)) - t * t;
  const T upper = math::log1p(T(-0.5) * math::erfc(t));
  return x < T(-1) ? lower : upper;
}

namespace detail {

FB_FN double ndtri(double p) {
  if (p == 0.0) return -math::infinity<double>();
  if (p == 1.0) return math::infinity<double>();
  if (!(p > 0.0 && p < 1.0)) return math::quiet_nan<double>();
  if (p > 0.1) return 1.41421356237309504880 * scalar::erfinv(2.0 * p - 1.0);
  // Abramowitz and Stegun 26.2.23 to start from, Halley's method to finish.
  const double t = math::sqrt(-2.0 * math::log(p));
  double z = (2.515517 + t * (0.802853 + t * 0.010328)) /
                 (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
             t;
  for (int k = 0; k < 2; ++k) {
    const double density = 0.39894228040143267794 * math::exp(-0.5 * z * z);
    const double step = (scalar::ndtr(z) - p) / density;
    z -= step / (1.0 + 0.5 * z * step);
  }
  return z;
}

}  // namespace detail

// The inverse of ndtr.
template <class T>
FB_FN T ndtri(T p) {
  return static_cast<T>(detail::ndtri(p));
}

// x log(1 + y), 0 where x is 0 unless y is NaN.
template <class T>
FB_FN T xlog1py(T x, T y) {
  const T value = x * math::log1p(y);
  return (x == T(0)) & (y == y) ? T(0) : value;
}

// -x log(x), 0 at zero, minus infinity below.
template <class T>
FB_FN T entr(T x) {
  const T value = -x * math::log(x);
  const T limit = x == T(0) ? T(0) : -math::infinity<T>();
  return (x > T(0)) | (x != x) ? value : limit;
}

template <class T>
FB_FN T spherical_bessel_j0(T x) {
  const T value = x == T(0) ? T(1) : math::sin(x) / x;
  return math::abs(x) == math::infinity<T>() ? T(0) : value;
}

}  // namespace fb::scalar
