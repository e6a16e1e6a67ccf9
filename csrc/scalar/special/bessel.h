// Bessel functions, computed in double whatever the element type.
#pragma once

#include "scalar/math.h"

namespace fb::scalar {

namespace detail {

// Up to here the power series of I0 and I1 is used: all its terms are positive and it takes some
// thirty.
inline constexpr double kBesselSeries = 8.0;

// I_n(x) for n = 0, 1: (x/2)^n times the sum of (x^2/4)^k / (k! (k + n)!).
FB_FN double bessel_i_series(int n, double x) {
  const double z = 0.25 * x * x;
  double term = n == 0 ? 1.0 : 0.5 * x, sum = term;
  for (int k = 1; term > sum * 1e-17; ++k) {
    term *= z / (k * static_cast<double>(k + n));
    sum += term;
  }
  return sum;
}

// sqrt(x) exp(-x) I_n(x) beyond, by minimax polynomials in 16 / x - 1.
FB_FN double bessel_i0_scaled(double x) {
  const double v = 16.0 / x - 1.0;
  return math::polynomial(v, 0.40217650944500816, 0.0033605519836673097, 0.0001362160743774861,
                          1.1143033835868636e-05, 1.4838481571213027e-06, 2.9735878827312843e-07,
                          8.871273814030472e-08, 3.9337503072013836e-08, 2.1626386005314763e-08,
                          7.484835415083357e-09, -7.1261948389134724e-09, -1.3155961407228144e-08,
                          -4.244468858862171e-09, 6.971548570121762e-09, 5.100300767896691e-09,
                          -2.6439499283898793e-09, -2.851488931885223e-09, 7.015313735110032e-10,
                          9.329706142492849e-10, -9.521801097590272e-11, -1.3977236233891775e-10);
}
FB_FN double bessel_i1_scaled(double x) {
  const double v = 16.0 / x - 1.0;
  return math::polynomial(v, 0.3893984590258723, -0.009749577193235234, -0.00021923576381913942,
                          -1.5038547241467494e-05, -1.834910738338695e-06, -3.4838460025241064e-07,
                          -1.0000316678250544e-07, -4.313982373927534e-08, -2.3454259356175514e-08,
                          -8.363869613877802e-09, 7.125161628208721e-09, 1.3802497846090644e-08,
                          4.774459148220321e-09, -7.109387475762842e-09, -5.4743299793096975e-09,
                          2.634718353537797e-09, 3.024374186900853e-09, -6.867866713619622e-10,
                          -9.851249858209341e-10, 9.208768066752737e-11, 1.4736338778233033e-10);
}

// exp(-|x|) I_n(x)
FB_FN double bessel_ie(int n, double x) {
  const double a = math::abs(x);
  const double size = a <= kBesselSeries
                          ? math::exp(-a) * bessel_i_series(n, a)
                          : (n == 0 ? bessel_i0_scaled(a) : bessel_i1_scaled(a)) / math::sqrt(a);
  return n == 1 ? math::copysign(size, x) : size;
}
// exp is taken in two halves, for I_n overflows later than exp does.
FB_FN double bessel_i(int n, double x) {
  const double half = math::exp(0.5 * math::abs(x));
  return half * bessel_ie(n, x) * half;
}

}  // namespace detail

template <class T>
FB_FN T i0(T x) {
  return static_cast<T>(detail::bessel_i(0, x));
}
template <class T>
FB_FN T i0e(T x) {
  return static_cast<T>(detail::bessel_ie(0, x));
}
template <class T>
FB_FN T i1(T x) {
  return static_cast<T>(detail::bessel_i(1, x));
}
template <class T>
FB_FN T i1e(T x) {
  return static_cast<T>(detail::bessel_ie(1, x));
}
template <class T>
FB_FN T bessel_j0(T x) {
  return math::j0(x);
}
template <class T>
FB_FN T bessel_j1(T x) {
  return math::j1(x);
}
template <class T>
FB_FN T bessel_y0(T x) {
  return math::y0(x);
}
template <class T>
FB_FN T bessel_y1(T x) {
  return math::y1(x);
}

}  // namespace fb::scalar
