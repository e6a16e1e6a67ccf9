// Rejection samplers: Poisson, binomial and gamma numbers from a source that has uniform(), on
// [0, 1), and normal().
#pragma once

#include "scalar/types.h"

#if !defined(__CUDACC_RTC__)
#include <math.h>
#endif

namespace fb::scalar {

// Small rates: multiply uniforms until the product falls below exp(-rate).
template <class Source>
inline double poisson_by_product(Source& source, double rate) {
  const double limit = ::exp(-rate);
  double product = source.uniform();
  long long k = 0;
  for (; product > limit; ++k) product *= source.uniform();
  return static_cast<double>(k);
}

// Hörmann (1993), "The transformed rejection method for generating Poisson random variables",
// algorithm PTRS.
template <class Source>
inline double poisson_by_rejection(Source& source, double rate) {
  const double log_rate = ::log(rate);
  const double b = 0.931 + 2.53 * ::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = source.uniform() - 0.5;
    const double v = source.uniform();
    const double us = 0.5 - ::fabs(u);
    const double k = ::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (::log(v) + ::log(inverse_alpha) - ::log(a / (us * us) + b) <=
        -rate + k * log_rate - ::lgamma(k + 1))
      return k;
  }
}

// `rate` is not negative.
template <class Source>
inline double draw_poisson(Source& source, double rate) {
  if (rate == 0) return 0;
  return rate < 10 ? poisson_by_product(source, rate) : poisson_by_rejection(source, rate);
}

// Counts how many geometric waiting times fit into `count` trials.
template <class T, class Source>
inline T binomial_by_waiting(Source& source, T count, T p) {
  const double log_failure = ::log1p(-p);
  double trials = 0;
  T successes = 0;
  for (;;) {
    trials += ::ceil(::log(source.uniform()) / log_failure);
    if (!(trials <= count)) return successes;
    successes += 1;
  }
}

// The remainder of Stirling's formula for log(k!).
inline double stirling_rest(double k) {
  static constexpr double kSmall[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                      0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                      0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                      0.00833056343336287};
  if (k < 10) return kSmall[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// Hörmann (1993), "The generation of binomial random variates", algorithm BTRS. What depends only
// on the parameters is rounded to their type T, as in PyTorch, so that float32 tensors get the same
// numbers.
template <class T, class Source>
inline T binomial_by_rejection(Source& source, T count, T p) {
  const double spread = ::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * spread;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = count * p + 0.5;
  const double v_r = 0.92 - 4.2 / b;
  const double odds = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * spread;
  const double mode = ::floor((count + 1) * p);
  for (;;) {
    const double u = source.uniform() - 0.5;
    double v = source.uniform();
    const double us = 0.5 - ::fabs(u);
    const T k = static_cast<T>(::floor((2 * a / us + b) * u + c));
    if (k < 0 || k > count) continue;
    if (us >= 0.07 && v <= v_r) return k;
    v = ::log(v * alpha / (a / (us * us) + b));
    const double bound = (mode + 0.5) * ::log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * ::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * ::log(odds * (count - k + 1) / (k + 1)) + stirling_rest(mode) +
                         stirling_rest(count - mode) - stirling_rest(k) - stirling_rest(count - k);
    if (v <= bound) return k;
  }
}

template <class T, class Source>
inline T draw_binomial(Source& source, T count, T p) {
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  const bool likely = p > T(0.5);
  const T rarer = likely ? static_cast<T>(1.0 - p) : p;
  const T hits = count * rarer >= T(10) ? binomial_by_rejection(source, count, rarer)
                                        : binomial_by_waiting(source, count, rarer);
  return likely ? count - hits : hits;
}

// Marsaglia and Tsang (2000), "A simple method for generating gamma variables". Constants such as
// 1/3 are single-precision in PyTorch, which shows in the result.
template <class T, class Source>
inline T draw_gamma(Source& source, T shape) {
  double scale = 1;
  if (shape < 1) {
    if (shape == 0) return 0;
    scale = ::pow(1 - source.uniform(), static_cast<double>(1.0f / shape));
    shape += 1;
  }
  const double d = shape - 1.0f / 3.0f;
  const double c = 1 / ::sqrt(9 * d);
  for (;;) {
    double x;
    double y;
    do {
      x = source.normal();
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y;
    const double u = 1 - source.uniform();
    const double xx = x * x;
    if (u < 1 - 0.0331f * xx * xx || ::log(u) < 0.5 * xx + d * (1 - v + ::log(v)))
      return static_cast<T>(scale * d * v);
  }
}

}  // namespace fb::scalar
