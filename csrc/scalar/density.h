// Logarithms of densities, and divergences.
#pragma once

#include "scalar/math.h"

namespace fb::scalar {

template <class T>
FB_FN T normal_log_prob(T x, T loc, T scale) {
  const T distance = (x - loc) / scale;
  const T log_root_two_pi = T(0.91893853320467274178);
  return T(-0.5) * distance * distance - math::log(scale) - log_root_two_pi;
}

template <class T>
FB_FN T normal_divergence(T shift, T ratio) {
  return T(0.5) * (ratio * ratio + shift * shift - T(1)) - math::log(ratio);
}

}  // namespace fb::scalar
