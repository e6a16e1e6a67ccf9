// The tail of the normal distribution in float, for the processor and the device.
#pragma once

#include "scalar/math/format.h"

namespace fb::math {

inline constexpr float kNormalTailEnd = 6.5f;
// The distribution function Phi(-a) is 2^(-1 + normal_exponent(a)) for a from 0 to the end of the
// fit: one polynomial and one power of two.
FB_FN float normal_exponent(float a) {
  const float p =
      polynomial(a, 1.1511046f, 0.45921746f, 0.052449185f, -0.006953041f, -9.052651e-07f,
                 0.0002834765f, -7.863977e-05f, 1.1533468e-05f, -9.2937427e-07f, 3.2246522e-08f);
  return -a * p;
}

}  // namespace fb::math
