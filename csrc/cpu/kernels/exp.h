// The exponential that softmax is made of.
#pragma once

#include "cpu/kernels/simd.h"
#include "scalar/math.h"

namespace fb::cpu::FB_ISA {

template <class T>
inline constexpr T kLowestNormalExponent = sizeof(T) == 4 ? T(-87.33) : T(-708.39);

// exp(x) for x <= 0 and NaN, two thirds of the work of the general one. Results below the smallest
// normal number are 0.
template <class T>
FB_FN T exp_nonpositive(T x) {
  const math::ExpParts<T> parts = math::exp_parts(x);
  const T result = math::exp_reduced(parts.r) * math::power_of_two<T>(parts.k);
  return x < kLowestNormalExponent<T> ? T(0) : result;
}

namespace detail {
template <class T>
FB_FN Vec<T> exp_nonpositive(const Vec<T>& x) {
  using Bits = Vec<math::UIntOf<T>>;
  constexpr T rounder = math::Format<T>::kRounder + T(math::Format<T>::kBias);
  const Vec<T> shifted = x * math::kLog2E<T> + rounder;
  const Vec<T> n = shifted - rounder;
  const Vec<T> r = (x - n * math::kLn2Hi<T>)-n * math::kLn2Lo<T>;
  const Vec<T> power = (Vec<T>)((Bits)shifted << math::Format<T>::kMantissaBits);
  return x < kLowestNormalExponent<T> ? Vec<T>{} : math::exp_reduced(r) * power;
}
}  // namespace detail

// The same of all lanes. Loops over single exponentials depend on the compiler: Clang takes several
// vectors at a time and what remains of a short row one by one.
FB_FN Vec<float> exp_nonpositive(const Vec<float>& x) { return detail::exp_nonpositive<float>(x); }
FB_FN Vec<double> exp_nonpositive(const Vec<double>& x) {
  return detail::exp_nonpositive<double>(x);
}

}  // namespace fb::cpu::FB_ISA
