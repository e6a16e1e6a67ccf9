// The exponential that softmax is made of.
#pragma once

#include "scalar/math.h"

namespace fb::cpu::FB_ISA {

// exp(x) for x <= 0 and NaN, two thirds of the work of the general one. Results below the smallest
// normal number are 0.
template <class T>
FB_FN T exp_nonpositive(T x) {
  constexpr T lowest_normal = sizeof(T) == 4 ? T(-87.33) : T(-708.39);
  const math::ExpParts<T> parts = math::exp_parts(x);
  const T result = math::exp_reduced(parts.r) * math::power_of_two<T>(parts.k);
  return x < lowest_normal ? T(0) : result;
}

}  // namespace fb::cpu::FB_ISA
