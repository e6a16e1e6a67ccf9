// The Airy function Ai, computed in double whatever the element type.
#pragma once

#include "scalar/math.h"

namespace fb::scalar {

namespace detail {

// Four pieces, each with its own minimax polynomial: of Ai itself in [-4, 2], and outside of the
// factor of its leading term, in 1 / zeta with zeta = 2/3 |x|^(3/2).
inline constexpr double kAiryLeft = -4.0;
inline constexpr double kAiryRight = 2.0;
inline constexpr double kZetaLeft = 16.0 / 3.0;
inline constexpr double kZetaRight = 1.8856180831641267;

FB_FN double airy_in_0_2(double x) {
  return math::polynomial(x - 1.0, 0.13529241631288141, -0.1591474412967932, 0.06764620815644175,
                          -0.003975837497318683, -0.007625102761723633, 0.0031835185329569973,
                          -0.00038669800835014007, -0.00010575200545345591, 4.9943222186811565e-05,
                          -6.839583496707045e-06, -6.200933409839757e-07, 3.918511894253668e-07,
                          -5.651995093376975e-08, -1.4629817628816684e-09, 1.8497038175172962e-09,
                          -2.762081902956136e-10, -2.302273345077624e-12, 5.834158444469707e-12);
}
FB_FN double airy_in_minus_4_0(double x) {
  return math::polynomial(0.5 * x + 1.0, 0.22740742820168558, 1.236518041483382,
                          -0.9096297128067435, -1.3454808177089295, 1.4307651695268206,
                          0.17434044196090678, -0.7403322632644156, 0.2393189957262948,
                          0.13066752933569073, -0.1088501398826777, 0.009657908001950839,
                          0.01741946682162425, -0.007182305397743959, -0.00039802853771875237,
                          0.0010813950041438512, -0.00025844896228070145, -4.931092693915537e-05,
                          3.940776964296839e-05, -5.472112242572243e-06, -2.0760568978552044e-06,
                          9.490613774734944e-07, -6.401483493561906e-08, -5.5002940681667605e-08,
                          1.563408983047369e-08, 8.48620341900966e-10, -8.1404784961538e-10);
}

// x^(1/4) exp(zeta) Ai(x)
FB_FN double airy_decay(double zeta) {
  return math::polynomial(2.0 * kZetaRight / zeta - 1.0, 0.2774908024616546, -0.004122380595849492,
                          0.00039865677489458394, -6.427592277639402e-05, 1.3671255956557227e-05,
                          -3.48510926832708e-06, 1.0121089942839848e-06, -3.2469847170697346e-07,
                          1.1275577071064085e-07, -4.1784065501727926e-08, 1.6367236117824575e-08,
                          -6.719726003246205e-09, 2.8166320000272914e-09, -1.222777570196559e-09,
                          6.818549500561053e-10, -3.6072835750548884e-10, -2.1434131696095418e-11,
                          5.675664435142866e-11, 1.749196885799203e-10, -1.2269533339116626e-10,
                          -7.049891461629668e-11, 5.0803583637066e-11, 2.375331300539151e-11,
                          -1.5345958367818006e-11);
}

// |x|^(1/4) Ai(x) = P sin(zeta + pi/4) - Q / zeta cos(zeta + pi/4), with P and Q in 1 / zeta^2.
FB_FN double airy_wave(double zeta) {
  const double ratio = kZetaLeft / zeta;
  const double v = 2.0 * ratio * ratio - 1.0;
  const double p = math::polynomial(
      v, 0.5638306015530917, -0.00035035842624883375, 8.044614361562928e-06, -5.1084713520583e-07,
      5.665671828593732e-08, -8.984794808247629e-09, 1.8288463408054822e-09, -4.478613080391736e-10,
      1.264811392885877e-10, -3.9292216422570186e-11, 1.3320040818165132e-11,
      -6.207463656564134e-12, 2.8249257579466657e-12, 1.2470637943095182e-13,
      -2.7685863540663166e-13, -6.201657950374912e-13, 3.5383700130784275e-13);
  const double q =
      math::polynomial(v, 0.038821080809241536, -0.00034253737245504854, 1.4675206955210088e-05,
                       -1.3115719335376135e-06, 1.8221850681322138e-07, -3.402163846783213e-08,
                       7.852527238618694e-09, -2.1257958158327243e-09, 6.517174477108608e-10,
                       -2.2267406954040703e-10, 8.292653577448722e-11, -2.838986908236204e-11,
                       1.0216002779276679e-11, -1.1105311084818084e-11, 6.793882235170026e-12,
                       2.7645598803700885e-12, -2.2878988497936307e-12, -1.8256373680231346e-12,
                       1.1664370137651504e-12);
  const double angle = zeta + 0.25 * math::kPi<double>;
  return p * math::sin(angle) - q / zeta * math::cos(angle);
}

FB_FN double airy_ai(double x) {
  if (math::abs(x) == math::infinity<double>()) return 0.0;
  if (x >= 0.0 && x <= kAiryRight) return airy_in_0_2(x);
  if (x < 0.0 && x >= kAiryLeft) return airy_in_minus_4_0(x);
  const double root = math::sqrt(math::abs(x));
  const double zeta = 2.0 / 3.0 * math::abs(x) * root;
  const double value = x < 0.0 ? airy_wave(zeta) : airy_decay(zeta) * math::exp(-zeta);
  return value / math::sqrt(root);
}

}  // namespace detail

template <class T>
FB_FN T airy_ai(T x) {
  return static_cast<T>(detail::airy_ai(x));
}

}  // namespace fb::scalar
