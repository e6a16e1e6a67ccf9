// Arithmetic. Integers wrap on overflow; dividing one by zero gives 0 here, but the operator
// refuses that first.
#pragma once

#include "scalar/math.h"
#include "scalar/math/complex.h"

namespace fb::scalar {

// The unsigned type for wrapping integer arithmetic.
template <int bytes>
struct WrapBySize {
  using type = unsigned;
};
template <>
struct WrapBySize<8> {
  using type = unsigned long long;
};
template <class T>
using Wrap = typename WrapBySize<static_cast<int>(sizeof(T))>::type;

template <class T>
FB_FN T mul(T a, T b) {
  if constexpr (kIsBool<T>)
    return a & b;
  else if constexpr (kIsInteger<T>)
    return static_cast<T>(Wrap<T>(a) * Wrap<T>(b));
  else
    return a * b;
}

// alpha * b, where alpha = 1 does not disturb infinities of a complex b.
template <class T>
FB_FN T times_alpha(T b, T alpha) {
  if constexpr (kIsComplex<T>)
    return select(alpha == T(1), b, alpha * b);
  else
    return mul(alpha, b);
}

template <class T>
FB_FN T add(T a, T b, T alpha) {
  if constexpr (kIsBool<T>)
    return a | (b & alpha);
  else if constexpr (kIsInteger<T>)
    return static_cast<T>(Wrap<T>(a) + Wrap<T>(alpha) * Wrap<T>(b));
  else
    return a + times_alpha(b, alpha);
}

template <class T>
FB_FN T sub(T a, T b, T alpha) {
  if constexpr (kIsBool<T>)
    return a ^ (b & alpha);
  else if constexpr (kIsInteger<T>)
    return static_cast<T>(Wrap<T>(a) - Wrap<T>(alpha) * Wrap<T>(b));
  else
    return a - times_alpha(b, alpha);
}

template <class T>
FB_FN T rsub(T a, T b, T alpha) {
  return sub(b, a, alpha);
}

template <class T>
FB_FN T neg(T a) {
  if constexpr (kIsInteger<T>)
    return static_cast<T>(Wrap<T>(0) - Wrap<T>(a));
  else
    return -a;
}

template <class T>
FB_FN RealOf<T> abs(T a) {
  if constexpr (kIsFloat<T> || kIsComplex<T>)
    return math::abs(a);
  else if constexpr (kIsSigned<T>)
    return a < T(0) ? neg(a) : a;
  else
    return a;
}

template <class T>
FB_FN T square(T a) {
  return mul(a, a);
}

template <class T>
FB_FN T reciprocal(T a) {
  return T(1) / a;
}

// True division; integers have become floating point before.
template <class T>
FB_FN T div(T a, T b) {
  return a / b;
}

// Whether the hardware can divide: INT_MIN / -1 traps as 1 / 0 does.
template <class T>
FB_FN bool divides(T b) {
  return b != T(0) && !(kIsSigned<T> && b == T(-1));
}

template <class T>
FB_FN T div_trunc(T a, T b) {
  if constexpr (!kIsInteger<T>)
    return math::trunc(a / b);
  else
    return divides(b) ? static_cast<T>(a / b) : (b == T(0) ? T(0) : neg(a));
}

template <class T>
FB_FN T fmod(T a, T b) {
  if constexpr (!kIsInteger<T>)
    return math::fmod(a, b);
  else
    return divides(b) ? static_cast<T>(a % b) : T(0);
}

// The sign of a remainder follows the divisor.
template <class T>
FB_FN T with_divisor_sign(T rest, T b) {
  return (rest != T(0)) & ((rest < T(0)) != (b < T(0))) ? static_cast<T>(rest + b) : rest;
}

template <class T>
FB_FN T remainder(T a, T b) {
  return with_divisor_sign(fmod(a, b), b);
}

// floor(a / b) given fmod(a, b): exact where rounding a / b could step over an integer.
template <class T>
FB_FN T floor_quotient(T a, T b, T rest) {
  const T shifted = (a - rest) / b - ((rest != T(0)) & ((b < T(0)) != (rest < T(0))) ? T(1) : T(0));
  const T floored = math::floor(shifted);
  const T nearest = floored + (shifted - floored > T(0.5) ? T(1) : T(0));
  const T nonzero = shifted != T(0) ? nearest : math::copysign(T(0), a / b);
  return b == T(0) ? a / b : nonzero;
}

template <class T>
FB_FN T floor_divide(T a, T b) {
  if constexpr (!kIsInteger<T>) {
    return floor_quotient(a, b, math::fmod(a, b));
  } else {
    // The remainder by multiplication, as GCC would divide once more for it.
    const T quotient = div_trunc(a, b);
    const T rest = static_cast<T>(Wrap<T>(a) - Wrap<T>(quotient) * Wrap<T>(b));
    const bool below = (rest != T(0)) & (b != T(0)) & ((a < T(0)) != (b < T(0)));
    return kIsSigned<T> && below ? static_cast<T>(quotient - 1) : quotient;
  }
}

#if !defined(__CUDACC__)
// Note [Range checks]: x_in_range is x without its rare slow case, so that a loop over it
// vectorises; loops use it for a block of elements if x_has_range holds for all of them.
template <class T>
FB_FN bool fmod_has_range(T a, T b) {
  return math::fmod_has_range(a, b);
}
template <class T>
FB_FN bool remainder_has_range(T a, T b) {
  return math::fmod_has_range(a, b);
}
template <class T>
FB_FN bool floor_divide_has_range(T a, T b) {
  return math::fmod_has_range(a, b);
}
template <class T>
FB_FN T fmod_in_range(T a, T b) {
  return math::fmod_in_range(a, b);
}
template <class T>
FB_FN T remainder_in_range(T a, T b) {
  return with_divisor_sign(math::fmod_in_range(a, b), b);
}
template <class T>
FB_FN T floor_divide_in_range(T a, T b) {
  return floor_quotient(a, b, math::fmod_in_range(a, b));
}
#endif

// NaN wins.
template <class T>
FB_FN T maximum(T a, T b) {
  return select((a > b) | (a != a), a, b);
}
template <class T>
FB_FN T minimum(T a, T b) {
  return select((a < b) | (a != a), a, b);
}
// NaN loses.
template <class T>
FB_FN T fmax(T a, T b) {
  return select((a > b) | (b != b), a, b);
}
template <class T>
FB_FN T fmin(T a, T b) {
  return select((a < b) | (b != b), a, b);
}

// minimum(maximum(x, low), high); NaN if any of the three is. The bits of NaN are joined to the
// result, because of several choices in a row GCC makes masks for each of them.
template <class T>
FB_FN T clamp(T x, T low, T high) {
  const T above = x < low ? low : x;
  const T inside = above > high ? high : above;
  if constexpr (kIsFloat<T>) {
    const auto nan = math::bits_of(math::quiet_nan<T>());
    return bit_cast<T>(math::bits_of(inside) | ((low != low) | (high != high) ? nan : 0));
  } else {
    return inside;
  }
}
template <class T>
FB_FN T clamp_min(T x, T low) {
  return maximum(x, low);
}
template <class T>
FB_FN T clamp_max(T x, T high) {
  return minimum(x, high);
}

template <class T>
FB_FN T addcmul(T x, T a, T b, T value) {
  return add(x, mul(times_alpha(a, value), b), T(1));
}

template <class T>
FB_FN T addcdiv(T x, T a, T b, T value) {
  return x + times_alpha(a, value) / b;
}

// From whichever end is nearer, so that weights 0 and 1 give the ends exactly.
template <class T>
FB_FN T lerp(T start, T end, T weight) {
  return select(abs(weight) < RealOf<T>(0.5), start + weight * (end - start),
                end - (end - start) * (T(1) - weight));
}

// 0 for NaN, as in PyTorch. Complex numbers have sgn.
template <class T>
FB_FN T sign(T a) {
  return static_cast<T>((a > T(0)) - (a < T(0)));
}

template <class T>
FB_FN T sgn(T a) {
  if constexpr (kIsComplex<T>) {
    const RealOf<T> size = math::abs(a);
    return select(size == RealOf<T>(0), T(0), T(a.re / size, a.im / size));
  } else {
    return sign(a);
  }
}

template <class T>
FB_FN bool signbit(T a) {
  if constexpr (kIsFloat<T>)
    return math::sign_bit(a);
  else
    return a < T(0);
}

template <class T>
FB_FN T copysign(T a, T b) {
  return math::copysign(a, b);
}

template <class T>
FB_FN T hypot(T a, T b) {
  return math::hypot(a, b);
}

template <class T>
FB_FN T gcd(T a, T b) {
  a = abs(a);
  b = abs(b);
  while (a != T(0)) {
    const T rest = fmod(b, a);
    b = a;
    a = rest;
  }
  return b;
}

// Small types are computed in int, so that overflow wraps only once, at the end.
template <class T>
FB_FN T lcm(T a, T b) {
  if constexpr (sizeof(T) < sizeof(int))
    return static_cast<T>(lcm<int>(a, b));
  else
    return abs(mul(div_trunc(a, gcd(a, b)), b));
}

template <class T>
FB_FN T integer_power(T base, T exponent) {
  if (kIsSigned<T> && exponent < T(0)) {
    if (base == T(1)) return T(1);
    return base == T(-1) ? ((exponent & T(1)) != T(0) ? T(-1) : T(1)) : T(0);
  }
  T result = T(1);
  for (; exponent != T(0); exponent = static_cast<T>(exponent >> 1)) {
    if ((exponent & T(1)) != T(0)) result = mul(result, base);
    base = mul(base, base);
  }
  return result;
}

template <class T>
FB_FN T pow(T base, T exponent) {
  if constexpr (kIsBool<T>)
    return base | !exponent;
  else if constexpr (kIsInteger<T>)
    return integer_power(base, exponent);
  else
    return math::pow(base, exponent);
}

template <class T>
FB_FN T nextafter(T a, T b) {
  return math::nextafter(a, b);
}

template <class T>
FB_FN T ldexp(T x, T exponent) {
  return x * math::exp2(exponent);
}

template <class T>
FB_FN T heaviside(T x, T at_zero) {
  return select(x == T(0), at_zero, static_cast<T>(x > T(0)));
}

// Infinities and NaN replaced; in both parts of a complex number.
template <class T>
FB_FN T nan_to_num(T x, T nan, T posinf, T neginf) {
  if constexpr (kIsComplex<T>) {
    return {nan_to_num(x.re, nan.re, posinf.re, neginf.re),
            nan_to_num(x.im, nan.re, posinf.re, neginf.re)};
  } else {
    const T limit = x > T(0) ? posinf : neginf;
    const T other = x != x ? nan : limit;
    return math::abs(x) < math::infinity<T>() ? x : other;
  }
}

}  // namespace fb::scalar
