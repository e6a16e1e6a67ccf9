// Rounding, roots and exact remainders for float and double: one instruction each where the machine
// has it.
#pragma once

#include "scalar/math/opaque.h"

namespace fb::math {

FB_FN float floor(float x) { return __builtin_floorf(x); }
FB_FN double floor(double x) { return __builtin_floor(x); }
FB_FN float ceil(float x) { return __builtin_ceilf(x); }
FB_FN double ceil(double x) { return __builtin_ceil(x); }
FB_FN float trunc(float x) { return __builtin_truncf(x); }
FB_FN double trunc(double x) { return __builtin_trunc(x); }
// Half to even.
FB_FN float rint(float x) { return __builtin_rintf(x); }
FB_FN double rint(double x) { return __builtin_rint(x); }
FB_FN float sqrt(float x) { return __builtin_sqrtf(x); }
FB_FN double sqrt(double x) { return __builtin_sqrt(x); }
// One step of Newton's method removes most of the two rounding errors.
FB_FN float rsqrt(float x) {
  const float root = __builtin_sqrtf(x);
  const float half = 1.0f / (root + root), y = half + half;
  const float excess = product_error(x * half, y, 0.5f);
  // NaN at zero and infinity, where y is infinite or zero and any finite correction will do.
  const float number = excess > -Opaque<float>::kOne ? excess : -Opaque<float>::kOne;
  return y - y * number;
}
FB_FN double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
FB_FN float nextafter(float x, float y) { return __builtin_nextafterf(x, y); }
FB_FN double nextafter(double x, double y) { return __builtin_nextafter(x, y); }

FB_FN float hypot(float x, float y) {
  const double dx = x, dy = y;  // squares of floats neither overflow nor round in double
  const float result = static_cast<float>(__builtin_sqrt(dx * dx + dy * dy));
  return (abs(x) == infinity<float>()) | (abs(y) == infinity<float>()) ? infinity<float>() : result;
}
FB_FN double hypot(double x, double y) {
  const double ax = abs(x), ay = abs(y);
  const double large = ax > ay ? ax : ay;
  const double ratio = (ax > ay ? ay : ax) / large;
  double result = large * __builtin_sqrt(1.0 + ratio * ratio);
  result = large == 0.0 ? 0.0 : result;
  result = is_nan(x) | is_nan(y) ? x + y : result;
  return (ax == infinity<double>()) | (ay == infinity<double>()) ? infinity<double>() : result;
}

// Whether fmod_in_range(x, y) holds: a quotient of moderate size, y finite and not zero.
template <class T>
FB_FN bool fmod_has_range(T x, T y) {
  constexpr T limit = T(sizeof(T) == 4 ? 1 << 28 : 1ll << 50);
  return (abs(y) < infinity<T>()) & (abs(y) >= Format<T>::kMinNormal * (1 << 10)) &
         (abs(x) < limit * abs(y));
}
// x - trunc(x / y) * y without rounding. The rounded quotient can be one too large; the difference
// is exact.
FB_FN float fmod_in_range(float x, float y) {
  const double dx = abs(x), dy = abs(y);
  const double rest = dx - __builtin_trunc(dx / dy) * dy;
  return copysign(static_cast<float>(rest + (rest < 0.0 ? dy : 0.0)), x);
}
FB_FN double fmod_in_range(double x, double y) {
  const double ax = abs(x), ay = abs(y);
  const double quotient = __builtin_trunc(ax / ay);
  const double product = quotient * ay;
  const double rest = (ax - product) - product_error(quotient, ay, product);
  return copysign(rest < 0.0 ? rest + ay : rest, x);
}
FB_FN float fmod(float x, float y) {
  return fmod_has_range(x, y) ? fmod_in_range(x, y) : __builtin_fmodf(x, y);
}
FB_FN double fmod(double x, double y) {
  return fmod_has_range(x, y) ? fmod_in_range(x, y) : __builtin_fmod(x, y);
}

}  // namespace fb::math
