// Gamma and Bessel functions of the C library, which are scalar.
#pragma once

#include "scalar/math/log.h"
#include "scalar/math/trig.h"

#if !defined(__CUDACC__)
// Of the C library, as <math.h> declares them: not every compiler has them built in.
extern "C" {
double j0(double x) noexcept;
double j1(double x) noexcept;
double y0(double x) noexcept;
double y1(double x) noexcept;
}
#endif

namespace fb::math {

// In double, so that results near the zeros at 1 and 2 keep a float's digits: Stirling's series at
// y + 8, minus the logarithm of y (y + 1) ... (y + 7); below zero the reflection lgamma(x) = log(pi
// / |sin(pi x)|) - lgamma(1 - x).
FB_FN float lgamma(float x) {
  const double wide = x;
  const double y = wide < 0.0 ? 1.0 - wide : wide;
  const bool shifted = y < 8.0;
  const double product =
      y * (y + 1.0) * (y + 2.0) * (y + 3.0) * ((y + 4.0) * (y + 5.0) * (y + 6.0) * (y + 7.0));
  const double factor = shifted ? product : 1.0;
  const double w = shifted ? y + 8.0 : y;
  const double inverse = 1.0 / w;
  // B(2k) / (2k (2k - 1))
  const double series = polynomial(inverse * inverse, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680,
                                   1.0 / 1188, -691.0 / 360360, 1.0 / 156);
  constexpr double half_log_two_pi = 0.91893853320467274178, log_pi = 1.14472988584940017414;
  const double stirling = (w - 0.5) * log(w) - w + (half_log_two_pi + inverse * series);
  const double sine = abs(sin_in_range(kPi<double> * (wide - rint(wide))));
  const double correction = log(wide < 0.0 ? factor / sine : factor);
  const double value = wide < 0.0 ? log_pi - stirling + correction : stirling - correction;
  const float finite = (x == 1.0f) | (x == 2.0f) ? 0.0f : static_cast<float>(value);
  return abs(x) == infinity<float>() ? infinity<float>() : finite;
}
FB_FN double lgamma(double x) { return __builtin_lgamma(x); }
FB_FN float tgamma(float x) { return __builtin_tgammaf(x); }
FB_FN double tgamma(double x) { return __builtin_tgamma(x); }
FB_FN float j0(float x) { return static_cast<float>(::j0(x)); }
FB_FN double j0(double x) { return ::j0(x); }
FB_FN float j1(float x) { return static_cast<float>(::j1(x)); }
FB_FN double j1(double x) { return ::j1(x); }
FB_FN float y0(float x) { return static_cast<float>(::y0(x)); }
FB_FN double y0(double x) { return ::y0(x); }
FB_FN float y1(float x) { return static_cast<float>(::y1(x)); }
FB_FN double y1(double x) { return ::y1(x); }

}  // namespace fb::math
