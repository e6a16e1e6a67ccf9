// Numbers split into a mantissa and a power of two.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/frexp_args.h"
#include "scalar/math.h"

namespace fb::device {

template <class T>
__device__ inline void split_element(const FrexpArguments& args) {
  using Format = math::Format<T>;
  using UInt = typename Format::UInt;
  constexpr int kMantissa = Format::kMantissaBits;
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const T x = static_cast<const T*>(args.in)[i];
  T mantissa = x;
  int exponent = 0;
  if (x != T(0) && math::is_finite(x)) {
    constexpr T kLeast = Format::kMinNormal;
    const int shift = math::abs(x) < kLeast ? kMantissa + 1 : 0;
    const UInt bits = math::bits_of(x * math::power_of_two<T>(shift));
    constexpr UInt kExponent = Format::kInfinity;
    constexpr int kHalf = static_cast<int>(Format::kBias) - 1;  // the exponent of 0.5 to 1
    exponent = static_cast<int>((bits & kExponent) >> kMantissa) - kHalf - shift;
    mantissa = bit_cast<T>((bits & ~kExponent) | static_cast<UInt>(kHalf) << kMantissa);
  }
  static_cast<T*>(args.mantissa)[i] = mantissa;
  args.exponent[i] = exponent;
}

}  // namespace fb::device
