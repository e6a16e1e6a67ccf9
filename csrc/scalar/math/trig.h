// sin, cos, tan and their inverses for float and double: within one unit in the last place for
// float, about two for double.
#pragma once

#include "scalar/math/basic.h"
#include "scalar/math/opaque.h"

namespace fb::math {

// Where reduction by pi/2 in three parts is exact: the quotient then has at most 20 bits. Larger
// angles need the bits of 2/pi around their exponent, which the C library's scalar functions look
// up.
template <class T>
FB_FN bool angle_has_range(T x) {
  return abs(x) < T(1 << 20);
}
// The tangent is steep at the ends of the interval, and r exceeds it by the error of 2/pi times the
// quotient.
template <class T>
FB_FN bool tan_has_range(T x) {
  return abs(x) < T(1 << 19);
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
// In double, where two parts are enough. It stays there until the result is rounded.
FB_FN Angle<double> reduce_angle(float x) {
  const double wide = x;
  const Rounded<double> n = round_small(wide * kTwoOverPi);
  return {(wide - n.value * kHalfPiHi) - n.value * (kHalfPiMid + kHalfPiLo), n.integer};
}

// The last argument's type gives the precision.
FB_FN double sin_reduced(double r, float) {
  const double z = r * r;
  return r +
         r * z * polynomial(z, -0.1666665493648351, 0.008332177676531823, -0.00019517233608780008);
}
FB_FN double sin_reduced(double r, double) {
  const double z = r * r;
  return r + r * z *
                 polynomial(z, -0.16666666666666632, 0.00833333333332233, -0.00019841269829735022,
                            2.7557313664855665e-06, -2.5050753610657532e-08,
                            1.5896520290684886e-10);
}
FB_FN double cos_reduced(double r, float) {
  const double z = r * r;
  return 1.0 + z * polynomial(z, -0.4999999972488298, 0.041666623297928064, -0.001388676293563677,
                              2.4390368072242988e-05);
}
FB_FN double cos_reduced(double r, double) {
  const double z = r * r;
  const double tail =
      polynomial(z, 0.0416666666666666, -0.0013888888888874001, 2.4801587289400127e-05,
                 -2.7557314327317293e-07, 2.0875719712235783e-09, -1.1359455769524378e-11);
  return 1.0 + (z * z * tail - 0.5 * z);
}

// The sine of an angle k quarter turns beyond r.
template <class T>
FB_FN T sin_of(Angle<double> angle) {
  const double value = (angle.k & 1) != 0 ? cos_reduced(angle.r, T(0)) : sin_reduced(angle.r, T(0));
  const UIntOf<double> sign = (static_cast<UIntOf<double>>(angle.k) & 2u) << 62;
  return static_cast<T>(bit_cast<double>(bits_of(value) ^ sign));
}

template <class T>
FB_FN T tan_of(Angle<double> angle) {
  const double s = sin_reduced(angle.r, T(0)), c = cos_reduced(angle.r, T(0));
  const bool odd = (angle.k & 1) != 0;
  return static_cast<T>((odd ? c : s) / (odd ? -s : c));
}

#if defined(__FMA__)
// x = k pi/2 + r + lost in float only, with exact products: r comes with its rounding error.
struct Turn {
  float r;
  float lost;
  unsigned k;
};
FB_FN Turn reduce_turn(float x) {
  constexpr float two_over_pi = 0.63661975f;
  constexpr float high = 0x1.921fb6p+0f, middle = -0x1.777a5cp-25f, low = -0x1.ee59dap-50f;  // pi/2
  const Rounded<float> n = round_small(x * two_over_pi);
  const float exact = fused(-n.value, high, x);
  const float product = n.value * middle;
  const float r = exact - product;
  const float rest_of_product = fused(n.value, low, product_error(n.value, middle, product));
  return {r, ((exact - r) - product) - rest_of_product, static_cast<unsigned>(n.integer)};
}

FB_FN float sin_turned(float x, int quarters) {
  const Turn turn = reduce_turn(x);
  const float r = turn.r, z = r * r;
  const float sine =
      r + fused(r * z, polynomial(z, -0.16666652f, 0.008331997f, -0.00019492173f), turn.lost);
  const float half = -0.5f * r;
  const float most = fused(half, r, 1.0f);
  const float rest = fused(half, r, 1.0f - most) - r * turn.lost;
  const float cosine =
      most + fused(z * z, polynomial(z, 0.04166664f, -0.0013887115f, 2.4409206e-05f), rest);
  const unsigned k = turn.k + static_cast<unsigned>(quarters);
  return bit_cast<float>(bits_of((k & 1u) != 0 ? cosine : sine) ^ ((k & 2u) << 30));
}

// t + t_lost is the tangent of r; its reciprocal is corrected by both rounding errors.
FB_FN float tan_turned(float x) {
  const Turn turn = reduce_turn(x);
  const float r = turn.r, z = r * r;
  const float slope = horner(z, 0.33333367f, 0.13332072f, 0.054126125f, 0.020945024f, 0.011696489f,
                             -0.0009836488f, 0.004896443f);
  // Errors of r and z. Where they show, the slopes are 1 + t^2, about 1 + 1.6 z, and 0.6 r.
  const float lost = turn.lost * (1.0f + 1.6f * z) + 0.6f * product_error(r, r, z) * r;
  const float rest = fused(r * z, slope, lost);
  const float t = r + rest;
  const float t_lost = (r - t) + rest;
  const float inverse = -1.0f / t;
  const float excess = fused(inverse, t, 1.0f) + inverse * t_lost;
  return (turn.k & 1u) != 0 ? inverse + inverse * excess : t;
}
#else
FB_FN float sin_turned(float x, int quarters) {
  Angle<double> angle = reduce_angle(x);
  angle.k += quarters;
  return sin_of<float>(angle);
}
FB_FN float tan_turned(float x) { return tan_of<float>(reduce_angle(x)); }
#endif
FB_FN double sin_turned(double x, int quarters) {
  Angle<double> angle = reduce_angle(x);
  angle.k += quarters;
  return sin_of<double>(angle);
}
FB_FN double tan_turned(double x) { return tan_of<double>(reduce_angle(x)); }

template <class T>
FB_FN T sin_in_range(T x) {
  const T result = sin_turned(x, 0);
  return x == T(0) ? x : result;
}
template <class T>
FB_FN T cos_in_range(T x) {
  return sin_turned(x, 1);
}
template <class T>
FB_FN T tan_in_range(T x) {
  const T result = tan_turned(x);
  return x == T(0) ? x : result;
}

FB_FN float sin(float x) { return angle_has_range(x) ? sin_in_range(x) : __builtin_sinf(x); }
FB_FN double sin(double x) { return angle_has_range(x) ? sin_in_range(x) : __builtin_sin(x); }
FB_FN float cos(float x) { return angle_has_range(x) ? cos_in_range(x) : __builtin_cosf(x); }
FB_FN double cos(double x) { return angle_has_range(x) ? cos_in_range(x) : __builtin_cos(x); }
FB_FN float tan(float x) {  // the error of the library's float function shows
  return tan_has_range(x) ? tan_in_range(x) : static_cast<float>(__builtin_tan(x));
}
FB_FN double tan(double x) { return tan_has_range(x) ? tan_in_range(x) : __builtin_tan(x); }

// The rounding error of pi/2 in T; adding it after a subtraction from pi/2 halves the error.
template <class T>
inline constexpr T kHalfPiRest = T(6.123233995736766e-17);
template <>
inline constexpr float kHalfPiRest<float> = -4.371139e-08f;

// base + (t + t * tail) rounded once, for a `base` of 0, pi/4 or pi/2, whose own rounding error is
// corrected, and a small tail.
template <class T>
FB_FN T add_to_quarter_turn(T base, T t, T tail) {
  const T sum = base + t;
  const T lost = (base - sum) + t;
  return sum + fused(t, tail, base * Opaque<T>::kPiRest + lost);
}

// (asin(sqrt z) - sqrt z) / sqrt(z)^3 for 0 <= z <= 1/4
FB_FN float asin_polynomial(float z) {
  return horner(z, 0.16666754f, 0.07495234f, 0.045478225f, 0.02414131f, 0.04223033f);
}
FB_FN double asin_polynomial(double z) {
  return polynomial(z, 0.1666666666666538, 0.07500000000343904, 0.04464285682272256,
                    0.0303819593645884, 0.022371752672588868, 0.017359784774009453,
                    0.01388445469153957, 0.012174283144830343, 0.006506249082388341,
                    0.019587224996687882, -0.016316086884658416, 0.03197480147940874);
}

// asin(a) = s + (s * tail + lost) up to 1/2; beyond, asin(sqrt((1 - a) / 2)), the half angle of the
// complement.
template <class T>
struct AsinParts {
  T s;
  T tail;
  T lost;
};
template <class T>
FB_FN AsinParts<T> asin_or_half_complement(T a, bool far) {
  const T half = T(0.5) - T(0.5) * a;
  const T root = sqrt(half);  // NaN beyond 1
  const T z = far ? half : a * a, s = far ? root : a;
  // The rounding error of a root is (z - s^2) / (2 s). Without the divisor most of it is corrected
  // where it shows; without a root it is negligible.
  return {s, z * asin_polynomial(z), -product_error(s, s, z)};
}

template <class T>
FB_FN T asin(T x) {
  const T a = abs(x);
  const bool far = a > T(0.5);
  const AsinParts<T> parts = asin_or_half_complement(a, far);
  const T rest = fused(parts.s, parts.tail, parts.lost);
  const T twice = T(2) * parts.s;
  const T sum = kHalfPi<T> - twice;
  const T lost = (kHalfPi<T> - sum) - twice;
  const T beyond = sum + ((lost + kHalfPiRest<T>)-T(2) * rest);
  return flip_sign(far ? beyond : parts.s + rest, x);
}

template <class T>
FB_FN T acos(T x) {
  const T a = abs(x);
  const bool far = a > T(0.5);
  const AsinParts<T> parts = asin_or_half_complement(a, far);
  const T value = parts.s + fused(parts.s, parts.tail, parts.lost);
  // pi/2 - asin(x); for x far from 0 twice the half angle, or pi minus that.
  const T sum = kHalfPi<T> - (flip_sign(value, far ? T(1) : x) - kHalfPiRest<T>);
  const T part = far & (x > T(0)) ? value : sum;
  return far ? part + part : part;
}

// atan(x) / x - 1 for |x| <= 1. The float's is written around x = 1, where it is largest and its
// rounding shows most.
FB_FN float atan_tail(float x) {
  const Fine wide = x, z = wide * wide;
  const Fine slope =
      polynomial(z, -0.21460183f, 0.118730694f, -0.081238694f, 0.06121628f, -0.047258485f,
                 0.033560555f, -0.018671865f, 0.0066167633f, -0.0010515783f);
  return static_cast<float>((z - 1) * slope - 0.21460183f);
}
FB_FN double atan_tail(double x) {
  return odd_tail(
      x * x, -0.33333333333333093, 0.1999999999995545, -0.14285714282802991, 0.11111111013671787,
      -0.0909090711959578, 0.07692281190369138, -0.0666641502426479, 0.05880592700132973,
      -0.05253806150816663, 0.04723295241477822, -0.042217223824179306, 0.036693612565784954,
      -0.029985693499369102, 0.022085288754742992, -0.013995107702535798, 0.007263439223498322,
      -0.0029193828023160143, 0.000843498887065763, -0.00015480014381721448, 1.348959063520316e-05);
}

// By three formulas whose arguments are at most 0.55: atan(a), pi/4 + atan((a - 1) / (a + 1)) and
// pi/2 + atan(-1 / a).
FB_FN float atan(float x) {
  const float a = abs(x);
  // a / 1, (a - 1) / (a + 1) and -1 / a as one quotient of selected terms: GCC would make three
  // divisions.
  const float one = Opaque<float>::kOne, quarter = Opaque<float>::kQuarterPi;
  const float beyond = a > 0.55f ? one : 0.0f, before = a <= 1.8181818f ? one : 0.0f;
  const float over = (a <= 1.8181818f ? a : 0.0f) - beyond, under = (a > 0.55f ? a : 0.0f) + before;
  const float base = (beyond - before) * quarter + quarter;
  const float t = over / under, z = t * t;
  const float tail =
      z * horner(z, -0.33333105f, 0.19988938f, -0.1410907f, 0.098402485f, -0.046031937f);
  return flip_sign(add_to_quarter_turn(base, t, tail), x);
}
FB_FN double atan(double x) {
  const double a = abs(x);
  const bool inverted = a > 1.0;
  const double t = inverted ? -1.0 / a : a;
  return flip_sign(add_to_quarter_turn(inverted ? kHalfPi<double> : 0.0, t, atan_tail(t)), x);
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
  const T t = steep ? -ratio : ratio;
  const T quadrant = add_to_quarter_turn(steep ? kHalfPi<T> : T(0), t, atan_tail(t));
  const T half = sign_bit(x) ? kPi<T> - (quadrant - T(2) * kHalfPiRest<T>) : quadrant;
  return is_nan(x) || is_nan(y) ? x + y : copysign(half, y);
}

}  // namespace fb::math
