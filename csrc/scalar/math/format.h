// The formats of float and double, and the small functions that branch-free element functions are
// built from.
#pragma once

#include "scalar/types.h"

namespace fb::math {

template <class T>
struct Format;
template <>
struct Format<float> {
  using Int = int;
  using UInt = unsigned;
  static constexpr int kMantissaBits = 23;
  static constexpr Int kBias = 127;
  static constexpr UInt kSignBit = 0x80000000u;
  static constexpr UInt kInfinity = 0x7f800000u;
  static constexpr UInt kQuietNan = 0x7fc00000u;
  static constexpr float kMinNormal = 1.17549435e-38f;
  static constexpr float kMax = 3.40282347e+38f;
  static constexpr float kEpsilon = 1.1920929e-07f;
  // Adding it rounds to an integer, whose low bits then are the low bits of the sum.
  static constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23
};
template <>
struct Format<double> {
  using Int = long long;
  using UInt = unsigned long long;
  static constexpr int kMantissaBits = 52;
  static constexpr Int kBias = 1023;
  static constexpr UInt kSignBit = 0x8000000000000000ull;
  static constexpr UInt kInfinity = 0x7ff0000000000000ull;
  static constexpr UInt kQuietNan = 0x7ff8000000000000ull;
  static constexpr double kMinNormal = 2.2250738585072014e-308;
  static constexpr double kMax = 1.7976931348623157e+308;
  static constexpr double kEpsilon = 2.220446049250313e-16;
  static constexpr double kRounder = 6755399441055744.0;  // 1.5 * 2^52
};

template <class T>
using IntOf = typename Format<T>::Int;
template <class T>
using UIntOf = typename Format<T>::UInt;

template <class T>
inline constexpr T kPi = T(3.14159265358979323846);
template <class T>
inline constexpr T kHalfPi = T(1.57079632679489661923);
template <class T>
inline constexpr T kLn2 = T(0.69314718055994530942);
template <class T>
inline constexpr T kLog2E = T(1.44269504088896340736);
template <class T>
inline constexpr T kSqrtHalf = T(0.70710678118654752440);

// Through a local, because device code cannot refer to a static member.
template <class T>
FB_FN T infinity() {
  constexpr UIntOf<T> bits = Format<T>::kInfinity;
  return bit_cast<T>(bits);
}
template <class T>
FB_FN T quiet_nan() {
  constexpr UIntOf<T> bits = Format<T>::kQuietNan;
  return bit_cast<T>(bits);
}

template <class T>
FB_FN UIntOf<T> bits_of(T x) {
  return bit_cast<UIntOf<T>>(x);
}
FB_FN float abs(float x) { return __builtin_fabsf(x); }
FB_FN double abs(double x) { return __builtin_fabs(x); }
template <class T>
FB_FN bool sign_bit(T x) {
  return (bits_of(x) & Format<T>::kSignBit) != 0;
}
FB_FN float copysign(float magnitude, float sign) { return __builtin_copysignf(magnitude, sign); }
FB_FN double copysign(double magnitude, double sign) { return __builtin_copysign(magnitude, sign); }
// x with its sign flipped where `sign` is negative.
template <class T>
FB_FN T flip_sign(T x, T sign) {
  return bit_cast<T>(bits_of(x) ^ (bits_of(sign) & Format<T>::kSignBit));
}
// Zero or x. Of a choice whose other side is a choice itself GCC makes masks for all three results;
// this is one operation on bits.
template <class T>
FB_FN T zero_where(bool condition, T x) {
  return bit_cast<T>(bits_of(x) & (condition ? UIntOf<T>(0) : ~UIntOf<T>(0)));
}
template <class T>
FB_FN bool is_nan(T x) {
  return x != x;
}
template <class T>
FB_FN bool is_finite(T x) {
  return abs(x) < infinity<T>();
}

// c0 + c1 x + c2 x^2 + ... in pairs: two shorter chains of dependent operations instead of one
// (Horner's). In kernels T may be a vector; coefficients are numbers.
template <class T>
FB_FN RealOf<T> polynomial_pairs(T, T, RealOf<T> c) {
  return c;
}
template <class T>
FB_FN T polynomial_pairs(T x, T, RealOf<T> c0, RealOf<T> c1) {
  return c0 + x * c1;
}
template <class T, class... Rest>
FB_FN T polynomial_pairs(T x, T square, RealOf<T> c0, RealOf<T> c1, Rest... rest) {
  return (c0 + x * c1) + square * polynomial_pairs(x, square, rest...);
}
template <class T, class... Coefficients>
FB_FN T polynomial(T x, Coefficients... c) {
  return polynomial_pairs(x, x * x, static_cast<RealOf<T>>(c)...);
}

// The same by Horner's rule, one multiplication less: faster for few coefficients, and if the loop
// has other chains to overlap with.
template <class T>
FB_FN T horner(T, T c) {
  return c;
}
template <class T, class... Rest>
FB_FN T horner(T x, T c0, Rest... rest) {
  return c0 + x * horner(x, static_cast<T>(rest)...);
}

// c1 z + c2 z^2 + ..., which x + x * tail(x^2) of an odd function needs. The first term is added
// last, so that only its own rounding shows.
template <class T, class First, class... Coefficients>
FB_FN T odd_tail(T z, First c1, Coefficients... c) {
  const T square = z * z;
  return z * static_cast<T>(c1) + square * polynomial_pairs(z, square, static_cast<T>(c)...);
}

// The nearest integer as a number and as an integer, for |x| < 2^21 (float) or 2^50 (double).
// NaN gives NaN and some integer.
template <class T>
struct Rounded {
  T value;
  IntOf<T> integer;
};
template <class T>
FB_FN Rounded<T> round_small(T x) {
  const T shifted = x + Format<T>::kRounder;
  const UIntOf<T> integer = bits_of(shifted) - bits_of(Format<T>::kRounder);
  return {shifted - Format<T>::kRounder, static_cast<IntOf<T>>(integer)};
}

// 2^k, for k in the range of normal numbers.
template <class T>
FB_FN T power_of_two(IntOf<T> k) {
  using U = UIntOf<T>;  // where the result is not used k may be anything
  return bit_cast<T>((static_cast<U>(k) + static_cast<U>(Format<T>::kBias))
                     << Format<T>::kMantissaBits);
}

// The nearest integer n to x as a number, and 2^(n + offset), for what round_small() and
// power_of_two() take. The low bits of the sum are the exponent with its bias: one shift.
template <class T>
struct RoundedPower {
  T value;
  T power;
};
template <int kOffset, class T>
FB_FN RoundedPower<T> round_to_power(T x) {
  constexpr T rounder = Format<T>::kRounder + T(Format<T>::kBias + kOffset);
  const T shifted = x + rounder;
  return {shifted - rounder, bit_cast<T>(bits_of(shifted) << Format<T>::kMantissaBits)};
}

// x * 2^k with one rounding or two, for |k| < 2 * bias: results that overflow or underflow
// gradually are correct.
template <class T>
FB_FN T scale(T x, IntOf<T> k) {
  constexpr IntOf<T> offset = 4 * Format<T>::kBias;  // keeps the shifted number positive
  using U = UIntOf<T>;
  const U half = ((static_cast<U>(k) + static_cast<U>(offset)) >> 1) - static_cast<U>(offset / 2);
  const U rest = static_cast<U>(k) - half;
  return x * power_of_two<T>(static_cast<IntOf<T>>(half)) *
         power_of_two<T>(static_cast<IntOf<T>>(rest));
}

// The type for a float polynomial whose rounding errors show: without fused products it must be
// double.
#if defined(__FMA__)
using Fine = float;
#else
using Fine = double;
#endif

// A rounded number and its rounding error.
template <class T>
struct Split {
  T hi;
  T lo;
};

// a * b + c, for float rounded once: without such an instruction in double, where products of
// floats are exact.
FB_FN float fused(float a, float b, float c) {
#if defined(__FMA__)
  return __builtin_fmaf(a, b, c);
#else
  return static_cast<float>(static_cast<double>(a) * b + c);
#endif
}

FB_FN double fused(double a, double b, double c) { return a * b + c; }
// Vectors; kernels are compiled with fused products.
template <class V>
FB_FN V fused(V a, V b, RealOf<V> c) {
  return a * b + c;
}

// a * b - product exactly, where product = a * b rounded.
FB_FN float product_error(float a, float b, float product) { return fused(a, b, -product); }
FB_FN double product_error(double a, double b, double product) {
#if defined(__FMA__)
  return __builtin_fma(a, b, -product);
#else
  // Dekker's method: the halves of both factors have exact products.
  constexpr double splitter = 134217729.0;  // 2^27 + 1
  const double scaled_a = splitter * a, scaled_b = splitter * b;
  const double a_hi = scaled_a - (scaled_a - a), b_hi = scaled_b - (scaled_b - b);
  const double a_lo = a - a_hi, b_lo = b - b_hi;
  return ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo;
#endif
}

}  // namespace fb::math
