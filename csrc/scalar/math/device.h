// The same functions as the CPU headers of this folder, from CUDA's own library.
#pragma once

#include "scalar/math/format.h"
#include "scalar/math/normal.h"

namespace fb::math {

#define FB_DEVICE_UNARY(name)                        \
  FB_FN float name(float x) { return ::name##f(x); } \
  FB_FN double name(double x) { return ::name(x); }
#define FB_DEVICE_BINARY(name)                                   \
  FB_FN float name(float x, float y) { return ::name##f(x, y); } \
  FB_FN double name(double x, double y) { return ::name(x, y); }

FB_DEVICE_UNARY(floor)
FB_DEVICE_UNARY(ceil)
FB_DEVICE_UNARY(trunc)
FB_DEVICE_UNARY(rint)
FB_DEVICE_UNARY(sqrt)
FB_DEVICE_UNARY(rsqrt)
FB_DEVICE_UNARY(exp)
FB_DEVICE_UNARY(exp2)
FB_DEVICE_UNARY(expm1)
FB_DEVICE_UNARY(log)
FB_DEVICE_UNARY(log2)
FB_DEVICE_UNARY(log10)
FB_DEVICE_UNARY(log1p)
FB_DEVICE_UNARY(sin)
FB_DEVICE_UNARY(cos)
FB_DEVICE_UNARY(tan)
FB_DEVICE_UNARY(asin)
FB_DEVICE_UNARY(acos)
FB_DEVICE_UNARY(atan)
FB_DEVICE_UNARY(sinh)
FB_DEVICE_UNARY(cosh)
FB_DEVICE_UNARY(tanh)
FB_DEVICE_UNARY(asinh)
FB_DEVICE_UNARY(acosh)
FB_DEVICE_UNARY(atanh)
FB_DEVICE_UNARY(erf)
FB_DEVICE_UNARY(erfc)
FB_DEVICE_UNARY(erfcx)
FB_DEVICE_UNARY(lgamma)
FB_DEVICE_UNARY(tgamma)
FB_DEVICE_UNARY(j0)
FB_DEVICE_UNARY(j1)
FB_DEVICE_UNARY(y0)
FB_DEVICE_UNARY(y1)
FB_DEVICE_BINARY(atan2)
FB_DEVICE_BINARY(hypot)
FB_DEVICE_BINARY(fmod)
FB_DEVICE_BINARY(pow)
FB_DEVICE_BINARY(nextafter)
template <class T>
FB_FN T clamp_to_six(T x) {
  const T above = x < T(0) ? T(0) : x;
  return above > T(6) ? T(6) : above;
}
template <class T>
FB_FN T sigmoid(T x) {
  return T(1) / (T(1) + exp(-x));
}
template <class T>
FB_FN Split<T> expm1_to_zero(T x) {
  return {expm1(x), T(0)};
}
template <class T>
FB_FN T log1p_exp(T x) {
  return log1p(exp(x));
}
FB_FN float normal_cdf(float x) { return ::normcdff(x); }
FB_FN double normal_cdf(double x) { return ::normcdf(x); }
// CUDA's own distribution function takes longer than the memory does.
FB_FN float gelu(float x) {
  const float size = abs(x), a = size > kNormalTailEnd ? kNormalTailEnd : size;
  const float tail = a >= kNormalTailEnd ? 0.0f : 0.5f * exp2(normal_exponent(a));
  return (x < 0.0f ? 0.0f : x) - a * tail;
}
FB_FN double gelu(double x) { return x * ::normcdf(x); }

#undef FB_DEVICE_UNARY
#undef FB_DEVICE_BINARY

}  // namespace fb::math
