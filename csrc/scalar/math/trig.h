// sin, cos, tan and their inverses for float and double, within about two units in the last place.
#pragma once

#include "scalar/math/basic.h"

namespace fb::math {

// Where reduction by pi/2 in three parts is exact: the quotient then has at most 20 bits. Larger
// angles need the bits of 2/pi around their exponent, which the C library's scalar functions look
// up.
template <class T>
FB_FN bool angle_has_range(T x) {
  return abs(x) < T(1 << 20);
}

// x = k pi/2 + r with |r| <= pi/4.
template <class T>
struct Angle {
  T r;
  IntOf<T> k;
};
inline constexpr double kTwoOverPi = 0.63661977236758134308;
inline constexpr double kHalfPiHi = 0x1.921fb544p+0;  // 33 bits, as the next
inline constexpr double kHalfPiMid = 0x1.0b4611a6p-34;
inline constexpr double kHalfPiLo = 0x1.3198a2e037073p-69;

FB_FN Angle<double> reduce_angle(double x) {
  const Rounded<double> n = round_small(x * kTwoOverPi);
  const double r = ((x - n.value * kHalfPiHi) - n.value * kHalfPiMid) - n.value * kHalfPiLo;
  return {r, n.integer};
}
// In double, where two parts are enough and nothing of the float's precision is lost.
FB_FN Angle<float> reduce_angle(float x) {
  const double wide = x;
  const double n = (wide * kTwoOverPi + Format<double>::kRounder) - Format<double>::kRounder;
  const double r = (wide - n * kHalfPiHi) - n * (kHalfPiMid + kHalfPiLo);
  return {static_cast<float>(r), static_cast<int>(n)};
}

FB_FN float sin_reduced(float r) {
  const float z = r * r;
  return r + r * z * polynomial(z, -0.16666655f, 0.008332173f, -0.0001951665f);
}
FB_FN double sin_reduced(double r) {
  const double z = r * r;
  return r + r * z *
                 polynomial(z, -0.16666666666666632, 0.00833333333332233, -0.00019841269829735022,
                            2.7557313664855665e-06, -2.5050753610657532e-08,
                            1.5896520290684886e-10);
}
FB_FN float cos_reduced(float r) {
  const float z = r * r;
  return 1.0f + (z * z * polynomial(z, 0.041666646f, -0.0013887362f, 2.4437719e-05f) - 0.5f * z);
}
FB_FN double cos_reduced(double r) {
  const double z = r * r;
  const double tail =
      polynomial(z, 0.0416666666666666, -0.0013888888888874001, 2.4801587289400127e-05,
                 -2.7557314327317293e-07, 2.0875719712235783e-09, -1.1359455769524378e-11);
  return 1.0 + (z * z * tail - 0.5 * z);
}

// The sine of an angle k quarter turns beyond r.
template <class T>
FB_FN T sin_of(Angle<T> angle) {
  const T value = (angle.k & 1) != 0 ? cos_reduced(angle.r) : sin_reduced(angle.r);
  constexpr int to_sign_bit = static_cast<int>(sizeof(T)) * 8 - 2;
  const UIntOf<T> sign = (static_cast<UIntOf<T>>(angle.k) & 2u) << to_sign_bit;
  return bit_cast<T>(bits_of(value) ^ sign);
}

template <class T>
FB_FN T sin_in_range(T x) {
  const T result = sin_of(reduce_angle(x));
  return x == T(0) ? x : result;
}
template <class T>
FB_FN T cos_in_range(T x) {
  Angle<T> angle = reduce_angle(x);
  angle.k += 1;
  return sin_of(angle);
}
template <class T>
FB_FN T tan_in_range(T x) {
  const Angle<T> angle = reduce_angle(x);
  const T s = sin_reduced(angle.r), c = cos_reduced(angle.r);
  const bool odd = (angle.k & 1) != 0;
  const T result = (odd ? c : s) / (odd ? -s : c);
  return x == T(0) ? x : result;
}

FB_FN float sin(float x) { return angle_has_range(x) ? sin_in_range(x) : __builtin_sinf(x); }
FB_FN double sin(double x) { return angle_has_range(x) ? sin_in_range(x) : __builtin_sin(x); }
FB_FN float cos(float x) { return angle_has_range(x) ? cos_in_range(x) : __builtin_cosf(x); }
FB_FN double cos(double x) { return angle_has_range(x) ? cos_in_range(x) : __builtin_cos(x); }
FB_FN float tan(float x) { return angle_has_range(x) ? tan_in_range(x) : __builtin_tanf(x); }
FB_FN double tan(double x) { return angle_has_range(x) ? tan_in_range(x) : __builtin_tan(x); }

// What pi/2 lacks when rounded to T; added where it is subtracted from, it halves the error.
template <class T>
inline constexpr T kHalfPiRest = T(6.123233995736766e-17);
template <>
inline constexpr float kHalfPiRest<float> = -4.371139e-08f;

// (asin(sqrt z) - sqrt z) / sqrt(z)^3 for 0 <= z <= 1/4
FB_FN float asin_polynomial(float z) {
  return polynomial(z, 0.16666754f, 0.07495234f, 0.045478225f, 0.02414131f, 0.04223033f);
}
FB_FN double asin_polynomial(double z) {
  return polynomial(z, 0.1666666666666538, 0.07500000000343904, 0.04464285682272256,
                    0.0303819593645884, 0.022371752672588868, 0.017359784774009453,
                    0.01388445469153957, 0.012174283144830343, 0.006506249082388341,
                    0.019587224996687882, -0.016316086884658416, 0.03197480147940874);
}

// asin(a) up to 1/2; beyond, asin(sqrt((1 - a) / 2)): the half angle of the complement.
template <class T>
FB_FN T asin_or_half_complement(T a) {
  const T half = (T(1) - a) * T(0.5);
  const T root = sqrt(half);  // NaN beyond 1
  const T z = a > T(0.5) ? half : a * a;
  const T s = a > T(0.5) ? root : a;
  return s + s * z * asin_polynomial(z);
}

template <class T>
FB_FN T asin(T x) {
  const T a = abs(x);
  const T value = asin_or_half_complement(a);
  const T far = kHalfPi<T> - (T(2) * value - kHalfPiRest<T>);
  return copysign(a > T(0.5) ? far : value, x);
}

template <class T>
FB_FN T acos(T x) {
  const T a = abs(x);
  const T value = asin_or_half_complement(a);
  const T twice = T(2) * value;
  const T far = sign_bit(x) ? kPi<T> - (twice - T(2) * kHalfPiRest<T>) : twice;
  const T near = kHalfPi<T> - (copysign(value, x) - kHalfPiRest<T>);
  return a > T(0.5) ? far : near;
}

// atan for 0 <= x <= 1
FB_FN float atan_reduced(float x) {
  const float z = x * x;
  return x + x * z *
                 polynomial(z, -0.33333302f, 0.19998638f, -0.14265245f, 0.10957574f, -0.08419456f,
                            0.058234543f, -0.03145572f, 0.0110644614f, -0.0018272193f);
}
FB_FN double atan_reduced(double x) {
  const double z = x * x;
  return x + x * z *
                 polynomial(z, -0.33333333333333093, 0.1999999999995545, -0.14285714282802991,
                            0.11111111013671787, -0.0909090711959578, 0.07692281190369138,
                            -0.0666641502426479, 0.05880592700132973, -0.05253806150816663,
                            0.04723295241477822, -0.042217223824179306, 0.036693612565784954,
                            -0.029985693499369102, 0.022085288754742992, -0.013995107702535798,
                            0.007263439223498322, -0.0029193828023160143, 0.000843498887065763,
                            -0.00015480014381721448, 1.348959063520316e-05);
}

template <class T>
FB_FN T atan(T x) {
  const T a = abs(x);
  const bool inverted = a > T(1);
  const T value = atan_reduced(inverted ? T(1) / a : a);
  return copysign(inverted ? kHalfPi<T> - (value - kHalfPiRest<T>) : value, x);
}

// The angle of the point (x, y), with signed zeros and infinities as IEEE 754 has them.
template <class T>
FB_FN T atan2(T y, T x) {
  const T ax = abs(x), ay = abs(y);
  const bool steep = ay > ax;
  const T large = steep ? ay : ax, small = steep ? ax : ay;
  T ratio = small / large;
  ratio = large == T(0) ? T(0) : ratio;
  ratio = small == infinity<T>() ? T(1) : ratio;
  const T octant = atan_reduced(ratio);
  const T quadrant = steep ? kHalfPi<T> - (octant - kHalfPiRest<T>) : octant;
  const T half = sign_bit(x) ? kPi<T> - (quadrant - T(2) * kHalfPiRest<T>) : quadrant;
  return is_nan(x) || is_nan(y) ? x + y : copysign(half, y);
}

}  // namespace fb::math
