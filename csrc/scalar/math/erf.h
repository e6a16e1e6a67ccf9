// The error function and its complements for float and double.
#pragma once

#include "scalar/math/exp.h"
#include "scalar/math/normal.h"

namespace fb::math {

// erf(x) / x - 1 as a polynomial in x^2, up to kErfSwitch.
FB_FN float erf_small(float z) {
  return static_cast<float>(polynomial<Fine>(z, 0.12837917f, -0.37612635f, 0.11283699f,
                                             -0.026859539f, 0.0052013053f, -0.00081450806f,
                                             8.3775914e-05f));
}
FB_FN double erf_small(double z) {
  return polynomial(z, 0.12837916709551256, -0.3761263890318355, 0.11283791670945253,
                    -0.02686617064327622, 0.005223977607423468, -0.0008548325989696758,
                    0.00012055295320494294, -1.4924744663335489e-05, 1.6447517677871873e-06,
                    -1.6209175911748696e-07, 1.3722976265924504e-08, -7.801188874097751e-10);
}
// -log(erfc(x)) from there to where erf is 1, minus kErfOffset ln 2; its error counts in proportion
// to erfc. The float's is zero where erfc is 2^-3, in the middle of the range where errors show.
FB_FN float erf_exponent(float x) {
  const float p = polynomial(x, 1.9167536f, 0.72730786f, 0.083251774f, -0.019220544f, 0.0028504648f,
                             -0.00019829339f);
  return (x - 1.084787f) * p + -8.048645e-08f;
}
FB_FN double erf_exponent(double x) {
  return polynomial(
      x, 1.7962477457410596e-07, 1.1283773292158341, 0.6366284891568282, 0.10274725138377,
      -0.019078153343988016, -0.0002804924514626529, 0.0017690052826499153, -0.0006411769755730554,
      4.482557293167891e-05, 7.036481948547494e-05, -4.503652456764111e-05, 1.6513624954573774e-05,
      -4.326953512960783e-06, 8.505555719018416e-07, -1.257020651142033e-07, 1.3626384296271018e-08,
      -1.0256767527430516e-09, 4.795925781849726e-11, -1.0495970869229545e-12);
}
template <class T>
inline constexpr T kErfSwitch = T(sizeof(T) == 4 ? 0.9225 : 1.0);
template <class T>
inline constexpr int kErfOffset = sizeof(T) == 4 ? 3 : 0;

template <class T>
FB_FN T erf(T x) {
  const T a = abs(x);
  const T near = fused(x, erf_small(x * x), x);
  // The exponent stays within [-53, 0], where a single power of two is enough for scale().
  const ExpPower<T> parts = exp_power<-kErfOffset<T>>(
      -erf_exponent(clamp_nan(a, Opaque<T>::kErfLow, Opaque<T>::kErfHigh)));
  const T far = copysign(T(1) - (parts.power + parts.power * exp_tail(parts.r)), x);
  return a < kErfSwitch<T> ? near : far;
}

// exp(x^2) erfc(x) for x >= 0: a polynomial in (x - c) / (x + c), which maps the half line to [-1,
// 1).
FB_FN float erfcx_positive(float x) {
  const float q = x < 1e18f ? (x - 3.0f) / (x + 3.0f) : 1.0f;
  const float p = polynomial(q, 1.253008f, -0.13562106f, -0.047562197f, 0.1296439f, -0.119274937f,
                             0.06831787f, -0.023764603f, 0.0024959126f, 0.0018763229f,
                             -0.00072304526f, -9.306732e-05f, 7.6005264e-05f);
  return 0.5f * p / (0.5f + x);
}
FB_FN double erfcx_positive(double x) {
  const double q = x < 1e150 ? (x - 4.0) / (x + 4.0) : 1.0;
  const double p = polynomial(
      q, 1.2329951186255526, -0.13962111684056214, 0.01537965210261117, 0.0680970542546557,
      -0.10103906603589342, 0.09373283499944715, -0.06633036581987002, 0.03716751552227547,
      -0.016197733985008, 0.00503197009646585, -0.0007577736903998849, -0.00019925726491989827,
      0.00015062304850831527, -2.4397434724107603e-05, -1.1225010558937309e-05,
      5.706066590017744e-06, 2.9790358200266636e-07, -8.204893033806405e-07, 7.123555521165952e-08,
      1.0591205229790354e-07, -1.6406474463110463e-08, -1.2175456569475516e-08,
      1.5801518114226305e-09, 9.012358933885196e-10);
  return 0.5 * p / (0.5 + x);
}

// The rounding error of x * x, for the exponentials of squares below.
FB_FN float square_error(float x, float square) {
  return static_cast<float>(static_cast<double>(x) * x - square);
}
FB_FN double square_error(double x, double square) { return product_error(x, x, square); }

// In double, where the square is exact, with exp(a^2) erfc(a) as a polynomial in (a - 3) / (a + 3)
// over the range that is needed.
FB_FN float erfc(float x) {
  const double a = clamp_above(abs(x), Opaque<float>::kErfcHigh);
  const double scaled = polynomial(
      (a - 3.0) / (a + 3.0), 0.17900115126017302, -0.3262335638246303, 0.24560379806282703,
      -0.15011578168970804, 0.07166585586274427, -0.024394238192380856, 0.004268919236197129,
      0.0007157867633756753, -0.0005946262050939147, 2.875733205510922e-05, 5.586355022915639e-05);
  const double positive = exp_for_float(-(a * a)) * scaled;
  return static_cast<float>(sign_bit(x) ? 2.0 - positive : positive);
}
FB_FN double erfc(double x) {
  const double a = clamp_above(abs(x), Opaque<double>::kErfcHigh);
  const double square = a * a;
  const double gauss = exp(-square) * (1.0 - square_error(a, square));
  const double positive = gauss * erfcx_positive(a);
  const double far = sign_bit(x) ? 2.0 - positive : positive;
  return a < 0.5 ? 1.0 - (x + x * erf_small(x * x)) : far;
}

// exp(x^2) erfc(x), which overflows for very negative x only.
template <class T>
FB_FN T erfcx(T x) {
  const T a = abs(x);
  const T positive = erfcx_positive(a);
  const T square = a * a;
  const T growth = exp(square);
  // Infinite if the square is; the correction would turn it into NaN.
  const T corrected = growth < infinity<T>() ? growth + growth * square_error(a, square) : growth;
  return sign_bit(x) ? T(2) * corrected - positive : positive;
}

// Phi(-a) for a from 0 to the end of the fit, and zero there: see normal_exponent. Its absolute
// error is like that of rounding.
FB_FN float normal_tail(float a) {
  const float exponent = normal_exponent(a);
  const RoundedPower<float> n = round_to_power<-1>(exponent);
  const float power = polynomial(exponent - n.value, 1.0f, 0.6931472f, 0.24022647f, 0.05550329f,
                                 0.00961849f, 0.0013399958f, 0.00015345765f);
  return a < kNormalTailEnd ? power * n.power : 0.0f;
}

FB_FN float normal_cdf(float x) {
  const float tail = normal_tail(clamp_above(abs(x), Opaque<float>::kNormalHigh));
  return x < 0.0f ? tail : 1.0f - tail;
}
FB_FN double normal_cdf(double x) { return 0.5 * erfc(-x * kSqrtHalf<double>); }

// x Phi(x).
FB_FN float gelu(float x) {
  const float a = clamp_above(abs(x), Opaque<float>::kNormalHigh);
  return (x < 0.0f ? 0.0f : x) - a * normal_tail(a);
}
FB_FN double gelu(double x) { return 0.5 * x * (1.0 + erf(x * kSqrtHalf<double>)); }

}  // namespace fb::math
