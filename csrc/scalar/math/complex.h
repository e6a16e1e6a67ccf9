// Complex functions, after W. Kahan, "Branch cuts for complex elementary functions" (1987), on the
// real ones.
#pragma once

#include "scalar/math.h"

namespace fb::math {

template <class T>
FB_FN T abs(Complex<T> z) {
  return hypot(z.re, z.im);
}
template <class T>
FB_FN Complex<T> conj(Complex<T> z) {
  return {z.re, -z.im};
}
// i z and -i z, which rename sine to hyperbolic sine and back.
template <class T>
FB_FN Complex<T> times_i(Complex<T> z) {
  return {-z.im, z.re};
}
template <class T>
FB_FN Complex<T> times_minus_i(Complex<T> z) {
  return {z.im, -z.re};
}

// a b, where 0 times infinity or NaN is 0 with the sign of the product: a part that vanishes on the
// whole line does so at its ends.
template <class T>
FB_FN T damped(T a, T b) {
  const T sign_a = is_nan(a) ? T(0) : a, sign_b = is_nan(b) ? T(0) : b;
  return (a == T(0)) | (b == T(0)) ? flip_sign(copysign(T(0), sign_a), sign_b) : a * b;
}

// If the angle is NaN, only the ends of the real axis have a value: 0 on the left, infinity on the
// right.
template <class T>
FB_FN Complex<T> exp(Complex<T> z) {
  const T size = exp(z.re);
  if (z.im == T(0)) return {size, z.im};
  if (!is_finite(z.im)) {
    if (z.re == -infinity<T>()) return {T(0), copysign(T(0), z.im)};
    return {z.re == infinity<T>() ? z.re : quiet_nan<T>(), quiet_nan<T>()};
  }
  return {size * cos(z.im), size * sin(z.im)};
}
template <class T>
FB_FN Complex<T> exp2(Complex<T> z) {
  return exp(Complex<T>(z.re * kLn2<T>, z.im * kLn2<T>));
}
// exp(x) cos y - 1 = expm1(x) cos y - 2 sin(y / 2)^2, without cancellation near zero.
template <class T>
FB_FN Complex<T> expm1(Complex<T> z) {
  const T half_sine = sin(z.im * T(0.5));
  return {expm1(z.re) * cos(z.im) - T(2) * half_sine * half_sine, exp(z).im};
}

// log|z|; near the unit circle from |z|^2 - 1, which is small there.
template <class T>
FB_FN T log_abs(Complex<T> z) {
  const T x = abs(z.re), y = abs(z.im);
  const T large = x > y ? x : y, small = x > y ? y : x;
  const T near = T(0.5) * log1p((large - T(1)) * (large + T(1)) + small * small);
  const T far = log(hypot(large, small));
  return (large > T(0.5)) & (large < T(2)) ? near : far;
}
template <class T>
FB_FN Complex<T> log(Complex<T> z) {
  return {log_abs(z), atan2(z.im, z.re)};
}
template <class T>
FB_FN Complex<T> log2(Complex<T> z) {
  const Complex<T> natural = log(z);
  return {natural.re * kLog2E<T>, natural.im * kLog2E<T>};
}
template <class T>
FB_FN Complex<T> log10(Complex<T> z) {
  constexpr T log10_e = T(0.43429448190325182765);
  const Complex<T> natural = log(z);
  return {natural.re * log10_e, natural.im * log10_e};
}
template <class T>
FB_FN Complex<T> log1p(Complex<T> z) {
  // |1 + z|^2 - 1 = x (2 + x) + y^2
  const T near = T(0.5) * log1p(z.re * (T(2) + z.re) + z.im * z.im);
  const Complex<T> far = log(Complex<T>(T(1) + z.re, z.im));
  return {abs(z) < T(0.5) ? near : far.re, far.im};
}

template <class T>
FB_FN Complex<T> sqrt(Complex<T> z) {
  const T x = abs(z.re), y = abs(z.im);
  // Scaled by an even power of two: the sum below neither overflows nor loses digits to underflow.
  const bool tiny = (x < T(8) * Format<T>::kMinNormal) & (y < T(8) * Format<T>::kMinNormal);
  const IntOf<T> even = tiny ? 2 * Format<T>::kMantissaBits : -2;
  const T sx = scale(x, even), sy = scale(y, even);
  const T larger = scale(sqrt(T(0.5) * (sx + hypot(sx, sy))), -even / 2);
  const T smaller = (larger == infinity<T>()) & !is_nan(y) ? T(0) : y / (T(2) * larger);
  const bool right = z.re >= T(0), zero = (x == T(0)) & (y == T(0)), high = y == infinity<T>();
  const T left = is_nan(z.re) ? z.re : smaller, re = right ? larger : left;
  const T low = zero ? T(0) : re, im = copysign(right ? smaller : larger, z.im);
  return {high ? y : low, zero | high ? z.im : im};
}

template <class T>
FB_FN Complex<T> pow(Complex<T> z, Complex<T> w) {
  if (w.re == T(0) && w.im == T(0)) return {T(1), T(0)};
  if (z.re == T(0) && z.im == T(0)) {
    return w.re > T(0) ? Complex<T>(T(0), T(0)) : Complex<T>(quiet_nan<T>(), quiet_nan<T>());
  }
  const T log_size = log_abs(z), angle = atan2(z.im, z.re);
  const T size = exp(w.re * log_size - w.im * angle);
  const T phase = w.im * log_size + w.re * angle;
  return {size * cos(phase), damped(size, sin(phase))};
}

// Infinite real parts stay infinite whatever the angle.
template <class T>
FB_FN bool is_polar_infinity(Complex<T> z) {
  return abs(z.re) == infinity<T>() && !is_finite(z.im);
}
template <class T>
FB_FN Complex<T> sinh(Complex<T> z) {
  if (is_polar_infinity(z)) return {infinity<T>(), quiet_nan<T>()};
  return {damped(sinh(z.re), cos(z.im)), damped(cosh(z.re), sin(z.im))};
}
template <class T>
FB_FN Complex<T> cosh(Complex<T> z) {
  if (is_polar_infinity(z)) return {infinity<T>(), quiet_nan<T>()};
  return {damped(cosh(z.re), cos(z.im)), damped(sinh(z.re), sin(z.im))};
}
template <class T>
FB_FN Complex<T> tanh(Complex<T> z) {
  constexpr T saturation = T(sizeof(T) == 4 ? 11.0 : 22.0);
  const T s = sin(z.im), c = cos(z.im);
  if (abs(z.re) > saturation) {
    const T sign = copysign(T(1), z.re);
    if (is_polar_infinity(z)) return {sign, copysign(T(0), z.im)};
    if (!is_finite(z.im)) return {quiet_nan<T>(), quiet_nan<T>()};
    const T decay = exp(-abs(z.re));
    return {sign, T(4) * s * c * decay * decay};
  }
  // tanh = (cosh x sinh x + i sin y cos y) / (sinh^2 x + cos^2 y)
  const T sh = sinh(z.re), ch = cosh(z.re);
  const T divisor = sh * sh + c * c;
  return {damped(sh, ch / divisor), damped(s, c / divisor)};
}
template <class T>
FB_FN Complex<T> sin(Complex<T> z) {
  const Complex<T> rotated = times_i(z);
  if (is_polar_infinity(rotated)) return {quiet_nan<T>(), infinity<T>()};
  return times_minus_i(sinh(rotated));
}
template <class T>
FB_FN Complex<T> cos(Complex<T> z) {
  return cosh(times_i(z));
}
template <class T>
FB_FN Complex<T> tan(Complex<T> z) {
  return times_minus_i(tanh(times_i(z)));
}

// The imaginary part of asin where z is not finite.
template <class T>
FB_FN T asin_limit(Complex<T> z) {
  const bool infinite = (abs(z.re) == infinity<T>()) | (abs(z.im) == infinity<T>());
  return infinite ? copysign(infinity<T>(), z.im) : z.re + z.im;
}
// Products of the square roots of 1 - z and 1 + z lose nothing to cancellation, unlike 1 - z^2.
template <class T>
FB_FN Complex<T> asin(Complex<T> z) {
  const Complex<T> below = sqrt(Complex<T>(T(1) - z.re, -z.im)),
                   above = sqrt(Complex<T>(T(1) + z.re, z.im));
  const T re = below.re * above.re - below.im * above.im;
  const T im = below.re * above.im - below.im * above.re;
  const bool finite = is_finite(z.re) & is_finite(z.im);
  const T angle = atan2(z.re, finite ? re : abs(z.im));
  return {!finite & (z.re == T(0)) ? z.re : angle,
          finite ? copysign(asinh(im), z.im) : asin_limit(z)};
}
template <class T>
FB_FN Complex<T> acos(Complex<T> z) {
  const Complex<T> below = sqrt(Complex<T>(T(1) - z.re, -z.im)),
                   above = sqrt(Complex<T>(T(1) + z.re, z.im));
  const T im = above.re * below.im - above.im * below.re;
  const bool finite = is_finite(z.re) & is_finite(z.im);
  const T angle = atan2(finite ? below.re : abs(z.im), finite ? above.re : z.re);
  const T far = z.re == T(0) ? kHalfPi<T> : angle;
  return {finite ? T(2) * angle : far, finite ? copysign(asinh(im), -z.im) : -asin_limit(z)};
}
template <class T>
FB_FN Complex<T> asinh(Complex<T> z) {
  return times_minus_i(asin(times_i(z)));
}
// The quarter turn of acos that has a positive real part.
template <class T>
FB_FN Complex<T> acosh(Complex<T> z) {
  const Complex<T> rotated = acos(z);
  return {abs(rotated.im), copysign(rotated.re, z.im)};
}
template <class T>
FB_FN Complex<T> atanh(Complex<T> z) {
  const T x = z.re, y = z.im;
  const T ax = abs(x), ay = abs(y);
  constexpr T huge = T(sizeof(T) == 4 ? 1e17 : 1e140);
  if (ax > huge || ay > huge) {  // 1 / z, beside a quarter turn
    const T re = ay == infinity<T>() || ax == infinity<T>() ? T(0) : T(1) / (ax + ay / ax * ay);
    return {copysign(ax == T(0) ? T(0) : re, x), is_nan(y) ? y : copysign(kHalfPi<T>, y)};
  }
  // Re = log((1 + x)^2 + y^2) / 4 - log((1 - x)^2 + y^2) / 4
  const T toward = T(1) - ax;
  const T re = T(0.25) * log1p(T(4) * ax / (toward * toward + y * y));
  const T im = T(0.5) * atan2(T(2) * y, (T(1) - ax) * (T(1) + ax) - y * y);
  return {x == T(0) ? x : copysign(re, x), im};
}
template <class T>
FB_FN Complex<T> atan(Complex<T> z) {
  return times_minus_i(atanh(times_i(z)));
}

}  // namespace fb::math
