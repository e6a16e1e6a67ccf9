// The modified Bessel functions of the second kind, computed in double whatever the element type.
#pragma once

#include "scalar/math.h"

namespace fb::scalar {

namespace detail {

// Up to here the power series in x^2 / 4 is used, with the logarithm taken out; beyond, minimax
// polynomials of sqrt(x) exp(x) K(x) in 4 / x - 1.
inline constexpr double kBesselKSeries = 2.0;

// K0(x) = -log(x / 2) I0(x) + the sum of (H_k - gamma) z^k / (k!)^2
FB_FN double bessel_k0_series(double x) {
  const double z = 0.25 * x * x;
  const double i0 = math::polynomial(
      z, 1.0, 1.0, 0.25, 0.027777777777777776, 0.001736111111111111, 6.944444444444444e-05,
      1.9290123456790124e-06, 3.936759889140842e-08, 6.151187326782565e-10, 7.594058428126624e-12,
      7.594058428126623e-14, 6.276081345559193e-16, 4.358389823304995e-18);
  const double rest = math::polynomial(
      z, -0.5772156649015329, 0.42278433509846713, 0.23069608377461678, 0.0348921574564389,
      0.0026147876188052093, 0.00011848039364109726, 3.6126241031992037e-06, 7.935096521304209e-08,
      1.3167486730385647e-09, 1.709994072705808e-11, 1.785934656987074e-13, 1.5330343403208473e-15,
      1.1009270959725744e-17);
  return rest - math::log(0.5 * x) * i0;
}
// K1(x) = 1 / x + log(x / 2) I1(x) - x / 4 times the sum of (psi(k + 1) + psi(k + 2)) z^k / (k! (k
// + 1)!)
FB_FN double bessel_k1_series(double x) {
  const double z = 0.25 * x * x;
  const double i1 = math::polynomial(
      z, 1.0, 0.5, 0.08333333333333333, 0.006944444444444444, 0.00034722222222222224,
      1.1574074074074073e-05, 2.755731922398589e-07, 4.920949861426052e-09, 6.834652585313961e-11,
      7.594058428126623e-13, 6.903689480115112e-15, 5.230067787965994e-17, 3.352607556388458e-19);
  const double rest = math::polynomial(
      z, 0.07721566490153287, -0.33639216754923357, -0.09078758348042781, -0.009591094919665281,
      -0.000557679745983264, -2.0711238446355714e-05, -5.357729570455905e-07,
      -1.022643001796939e-08, -1.501024373294594e-10, -1.747964364846441e-12,
      -1.654957367625136e-14, -1.2993205660505643e-16, -8.597616413496283e-19);
  return 1.0 / x + 0.5 * x * (math::log(0.5 * x) * i1 + rest);
}

FB_FN double bessel_k0_scaled(double x) {
  const double v = 4.0 / x - 1.0;
  return math::polynomial(v, 1.2185953385133905, -0.03107146182488952, 0.0030328918102753206,
                          -0.0004797690567662314, 9.95605474202942e-05, -2.4735204561466906e-05,
                          7.002245645755651e-06, -2.191177788015528e-06, 7.427801232190096e-07,
                          -2.6890662472901614e-07, 1.02954317593912e-07, -4.133923052104385e-08,
                          1.7047535884249698e-08, -7.286380907337665e-09, 3.808399859919043e-09,
                          -1.9309444875845705e-09, 4.757544705776374e-11, 1.7887095838476482e-10,
                          8.133913205464114e-10, -5.541051446065683e-10, -3.119936129682105e-10,
                          2.213758097591008e-10, 1.0926983537268735e-10, -6.910453875670571e-11);
}
FB_FN double bessel_k1_scaled(double x) {
  const double v = 4.0 / x - 1.0;
  return math::polynomial(v, 1.363151890371342, 0.10334973775386523, -0.005566729880074588,
                          0.0007357241549081501, -0.00013959021956272223, 3.284386555825453e-05,
                          -8.961207387750025e-06, 2.730041433569803e-06, -9.067087633371393e-07,
                          3.2298119177151824e-07, -1.2203186351938403e-07, 4.8461952200091865e-08,
                          -1.9817577141591116e-08, 8.40938756536177e-09, -4.331939985658629e-09,
                          2.1757782025837176e-09, -8.336227195991456e-11, -1.7982138496175016e-10,
                          -8.908596710923906e-10, 6.042482293782838e-10, 3.3867804167808003e-10,
                          -2.399376595899464e-10, -1.1931668393112158e-10, 7.52479548635394e-11);
}

// K_n(x), or exp(x) K_n(x) if `scaled`, for n = 0, 1; infinite at zero, NaN below.
FB_FN double bessel_k(int n, double x, bool scaled) {
  const double series = n == 0 ? bessel_k0_series(x) : bessel_k1_series(x);
  const double decay = (n == 0 ? bessel_k0_scaled(x) : bessel_k1_scaled(x)) / math::sqrt(x);
  const double exp = math::exp(scaled ? x : -x);
  const double near = scaled ? series * exp : series, far = scaled ? decay : decay * exp;
  const double inside = x <= kBesselKSeries ? near : far;
  const double ends = x == 0.0 ? math::infinity<double>() : 0.0;
  const double value = (x == 0.0) | (x == math::infinity<double>()) ? ends : inside;
  return x >= 0.0 ? value : math::quiet_nan<double>();
}

}  // namespace detail

template <class T>
FB_FN T modified_bessel_k0(T x) {
  return static_cast<T>(detail::bessel_k(0, x, false));
}
template <class T>
FB_FN T modified_bessel_k1(T x) {
  return static_cast<T>(detail::bessel_k(1, x, false));
}
template <class T>
FB_FN T scaled_modified_bessel_k0(T x) {
  return static_cast<T>(detail::bessel_k(0, x, true));
}
template <class T>
FB_FN T scaled_modified_bessel_k1(T x) {
  return static_cast<T>(detail::bessel_k(1, x, true));
}

}  // namespace fb::scalar
