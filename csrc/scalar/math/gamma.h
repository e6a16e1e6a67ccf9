// Gamma and Bessel functions of the C library, which are scalar.
#pragma once

#include "scalar/types.h"

namespace fb::math {

FB_FN float lgamma(float x) { return __builtin_lgammaf(x); }
FB_FN double lgamma(double x) { return __builtin_lgamma(x); }
FB_FN float tgamma(float x) { return __builtin_tgammaf(x); }
FB_FN double tgamma(double x) { return __builtin_tgamma(x); }
FB_FN float j0(float x) { return static_cast<float>(__builtin_j0(x)); }
FB_FN double j0(double x) { return __builtin_j0(x); }
FB_FN float j1(float x) { return static_cast<float>(__builtin_j1(x)); }
FB_FN double j1(double x) { return __builtin_j1(x); }
FB_FN float y0(float x) { return static_cast<float>(__builtin_y0(x)); }
FB_FN double y0(double x) { return __builtin_y0(x); }
FB_FN float y1(float x) { return static_cast<float>(__builtin_y1(x)); }
FB_FN double y1(double x) { return __builtin_y1(x); }

}  // namespace fb::math
