// Bessel functions, computed in double whatever the element type.
#pragma once

#include "scalar/math.h"

namespace fb::scalar {

namespace detail {

// exp(-a) I0(a) and exp(-a) I1(a) for a >= 0: minimax polynomials in a / 4 - 1 up to a = 8, and in
// 16 / a - 1 beyond, there of sqrt(a) times the function. The type of the last argument gives the
// precision.
inline constexpr double kBesselNear = 8.0;

FB_FN double bessel_i0_near(double v, double) {
  return math::polynomial(v, 0.2070019212239867, -0.11300432688620549, 0.09451562853995103,
                          -0.08904344136075962, 0.08734341617552313, -0.08496338091616305,
                          0.07927522590716347, -0.06954119561719381, 0.05677703201991695,
                          -0.04298594945479612, 0.030177912022978357, -0.01968265469059234,
                          0.011960077907026221, -0.0067923998730731695, 0.003617126448897043,
                          -0.001811886793937724, 0.0008563152748272306, -0.00038290209550065975,
                          0.00016240542162878106, -6.550861389620851e-05, 2.520232727107692e-05,
                          -9.251680584432654e-06, 3.2293390826404927e-06, -1.0883393970072518e-06,
                          3.675842926555429e-07, -1.1384114641747256e-07, 2.6265363151970112e-08,
                          -7.723094556846333e-09, 4.470516727511741e-09, -1.1852342482684723e-09);
}
FB_FN double bessel_i0_near(double v, float) {
  return math::polynomial(v, 0.207001921130, -0.11300433639, 0.094515647197, -0.08904287536,
                          0.087342805154, -0.08497324395, 0.079282972772, -0.06946328880,
                          0.056727288301, -0.04331789301, 0.030360637139, -0.01885735483,
                          0.011554065598, -0.00801823678, 0.004169273658, -0.00075489499,
                          0.000412651460, -0.00085198439, 0.000348628415);
}
FB_FN double bessel_i0_far(double v, double) {
  return math::polynomial(
      v, 0.4021765094450081, 0.0033605519836678614, 0.0001362160743919305, 1.1143033790932038e-05,
      1.4838475658279249e-06, 2.9735985885673923e-07, 8.872219737904054e-08, 3.932584334552952e-08,
      2.1548377974791598e-08, 7.554691881248808e-09, -6.747657956107524e-09, -1.340891754008974e-08,
      -5.404771567579958e-09, 7.552583062123384e-09, 7.430464650325426e-09, -3.505966530879332e-09,
      -5.95356943826489e-09, 1.5200816953924232e-09, 3.6379546359011143e-09, -5.715843864202709e-10,
      -1.618980683624682e-09, 1.5279202694981569e-10, 4.577087631643623e-10,
      -2.0260604287413626e-11, -6.067631570603006e-11);
}
FB_FN double bessel_i0_far(double v, float) {
  return math::polynomial(v, 0.402176509419, 0.003360555700, 0.000136217164, 1.11121483e-05,
                          1.47611573e-06, 3.62667038e-07, 1.08679425e-07);
}

// Of exp(-a) I1(a) / a up to 8.
FB_FN double bessel_i1_near(double v, double) {
  return math::polynomial(
      v, 0.044687709875608835, -0.061124338029666284, 0.0680575999095116, -0.06848260620582691,
      0.06376740371340721, -0.055280039226991644, 0.04467457262125467, -0.03367135552108536,
      0.023686016957729535, -0.015571309243980052, 0.009583962150731578, -0.005534567847563678,
      0.0030057624197775295, -0.00153887456203039, 0.0007445123445061157, -0.0003411760289073331,
      0.0001484212433475852, -6.142360299099794e-05, 2.4233753149624307e-05, -9.136543922789093e-06,
      3.293899139003749e-06, -1.1327072698408053e-06, 3.759367306404118e-07,
      -1.2424759932738304e-07, 3.802984785138283e-08, -8.984420960424589e-09, 2.603206542331157e-09,
      -1.41695079121077e-09, 3.7284532079392345e-10);
}
FB_FN double bessel_i1_near(double v, float) {
  return math::polynomial(v, 0.044687709864, -0.06112433925, 0.068057602180, -0.06848253319,
                          0.063767329273, -0.05528131276, 0.044675517297, -0.03366128286,
                          0.023679943771, -0.01561430099, 0.009606306452, -0.00542742132,
                          0.002956003966, -0.00169859431, 0.000812403474, -0.00020262658,
                          9.35682009e-05, -0.00012368279, 4.75213369e-05);
}
FB_FN double bessel_i1_far(double v, double) {
  return math::polynomial(v, 0.38939845902587233, -0.009749577193235737, -0.00021923576383388928,
                          -1.5038547200567216e-05, -1.8349101326980946e-06, -3.483855761044295e-07,
                          -1.0001288294864884e-07, -4.312917729178349e-08, -2.337392820814264e-08,
                          -8.427766093735185e-09, 6.734464815301592e-09, 1.4034238782067183e-08,
                          5.974437608040264e-09, -7.64239413436356e-09, -7.888351507862078e-09,
                          3.4262341490077958e-09, 6.242741219786445e-09, -1.4387250533041013e-09,
                          -3.794670896208339e-09, 5.295625441161261e-10, 1.6848984479705146e-09,
                          -1.4011625179770627e-10, -4.758818838703853e-10, 1.8515118828852956e-11,
                          6.305965197150057e-11);
}
FB_FN double bessel_i1_far(double v, float) {
  return math::polynomial(v, 0.389398459059, -0.00974958137, -0.00021923712, -1.50039655e-05,
                          -1.82569073e-06, -4.21035016e-07, -1.22732172e-07);
}

template <class T>
FB_FN double bessel_i0e(T x) {
  const double a = math::abs(static_cast<double>(x));
  const double near = bessel_i0_near(0.25 * a - 1.0, x);
  const double far = bessel_i0_far(16.0 / a - 1.0, x) / math::sqrt(a);
  return a <= kBesselNear ? near : far;
}
template <class T>
FB_FN double bessel_i1e(T x) {
  const double a = math::abs(static_cast<double>(x));
  const double near = a * bessel_i1_near(0.25 * a - 1.0, x);
  const double far = bessel_i1_far(16.0 / a - 1.0, x) / math::sqrt(a);
  return math::copysign(a <= kBesselNear ? near : far, static_cast<double>(x));
}

// exp(|x|) times a scaled function, in two halves, for I_n overflows later than exp does.
FB_FN double unscaled(double x, double scaled) {
  const double half = math::exp(0.5 * math::abs(x));
  return half * scaled * half;
}

}  // namespace detail

template <class T>
FB_FN T i0(T x) {
  return static_cast<T>(detail::unscaled(x, detail::bessel_i0e(x)));
}
template <class T>
FB_FN T i0e(T x) {
  return static_cast<T>(detail::bessel_i0e(x));
}
template <class T>
FB_FN T i1(T x) {
  return static_cast<T>(detail::unscaled(x, detail::bessel_i1e(x)));
}
template <class T>
FB_FN T i1e(T x) {
  return static_cast<T>(detail::bessel_i1e(x));
}
template <class T>
FB_FN T bessel_j0(T x) {
  return math::j0(x);
}
template <class T>
FB_FN T bessel_j1(T x) {
  return math::j1(x);
}
template <class T>
FB_FN T bessel_y0(T x) {
  return math::y0(x);
}
template <class T>
FB_FN T bessel_y1(T x) {
  return math::y1(x);
}

}  // namespace fb::scalar
