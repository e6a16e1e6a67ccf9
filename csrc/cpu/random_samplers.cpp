// Random numbers whose parameters differ from element to element: rejection samplers and weighted
// choice.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/random.h"

namespace fb::cpu {
namespace {

// Small rates: multiply uniforms until the product falls below exp(-rate).
double poisson_by_product(Generator& generator, double rate) {
  const double limit = std::exp(-rate);
  double product = generator.uniform();
  int64_t k = 0;
  for (; product > limit; ++k) product *= generator.uniform();
  return static_cast<double>(k);
}

// Hörmann (1993), "The transformed rejection method for generating Poisson random variables",
// algorithm PTRS.
double poisson_by_rejection(Generator& generator, double rate) {
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = generator.uniform() - 0.5;
    const double v = generator.uniform();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <=
        -rate + k * log_rate - std::lgamma(k + 1))
      return k;
  }
}

double draw_poisson(Generator& generator, double rate) {
  FB_CHECK(rate >= 0, "invalid Poisson rate, expected rate to be non-negative");
  if (rate == 0) return 0;
  return rate < 10 ? poisson_by_product(generator, rate) : poisson_by_rejection(generator, rate);
}

// Counts how many geometric waiting times fit into `count` trials.
template <class T>
T binomial_by_waiting(Generator& generator, T count, T p) {
  const double log_failure = std::log1p(-p);
  double trials = 0;
  T successes = 0;
  for (;;) {
    trials += std::ceil(std::log(generator.uniform()) / log_failure);
    if (!(trials <= count)) return successes;
    successes += 1;
  }
}

// The remainder of Stirling's formula for log(k!).
double stirling_rest(double k) {
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
template <class T>
T binomial_by_rejection(Generator& generator, T count, T p) {
  const double spread = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * spread;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = count * p + 0.5;
  const double v_r = 0.92 - 4.2 / b;
  const double odds = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * spread;
  const double mode = std::floor((count + 1) * p);
  for (;;) {
    const double u = generator.uniform() - 0.5;
    double v = generator.uniform();
    const double us = 0.5 - std::abs(u);
    const T k = static_cast<T>(std::floor((2 * a / us + b) * u + c));
    if (k < 0 || k > count) continue;
    if (us >= 0.07 && v <= v_r) return k;
    v = std::log(v * alpha / (a / (us * us) + b));
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) +
                         stirling_rest(mode) + stirling_rest(count - mode) - stirling_rest(k) -
                         stirling_rest(count - k);
    if (v <= bound) return k;
  }
}

template <class T>
T draw_binomial(Generator& generator, T count, T p) {
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  const bool likely = p > T(0.5);
  const T rarer = likely ? static_cast<T>(1.0 - p) : p;
  const T hits = count * rarer >= T(10) ? binomial_by_rejection(generator, count, rarer)
                                        : binomial_by_waiting(generator, count, rarer);
  return likely ? count - hits : hits;
}

// Marsaglia and Tsang (2000), "A simple method for generating gamma variables". Constants such as
// 1/3 are single-precision in PyTorch, which shows in the result.
template <class T>
T draw_gamma(Generator& generator, T shape) {
  double scale = 1;
  if (shape < 1) {
    if (shape == 0) return 0;
    scale = std::pow(1 - generator.uniform(), static_cast<double>(1.0f / shape));
    shape += 1;
  }
  const double d = shape - 1.0f / 3.0f;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x;
    double y;
    do {
      x = generator.normal();
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y;
    const double u = 1 - generator.uniform();
    const double xx = x * x;
    if (u < 1 - 0.0331f * xx * xx || std::log(u) < 0.5 * xx + d * (1 - v + std::log(v)))
      return static_cast<T>(scale * d * v);
  }
}

// Accumulates in Sum, single precision for the 16-bit floats.
template <class Sum, class T>
void choose_categories(Generator& generator, int64_t* out, int64_t samples, const T* weights,
                       int64_t rows, int64_t categories) {
  std::vector<Sum> cumulative(static_cast<size_t>(categories));
  for (int64_t row = 0; row < rows; ++row, weights += categories, out += samples) {
    Sum sum = 0;
    for (int64_t i = 0; i < categories; ++i) {
      const auto weight = static_cast<Sum>(weights[i]);
      FB_CHECK(weight >= 0,
               "invalid multinomial distribution (encountering probability entry < 0)");
      FB_CHECK(
          std::isfinite(weight),
          "invalid multinomial distribution (encountering probability entry = infinity or NaN)");
      cumulative[i] = sum += weight;
    }
    FB_CHECK(sum > 0, "invalid multinomial distribution (sum of probabilities <= 0)");
    for (Sum& value : cumulative) value /= sum;
    cumulative.back() = 1;
    for (int64_t i = 0; i < samples; ++i) {
      const auto position =
          std::lower_bound(cumulative.begin(), cumulative.end(), generator.uniform(),
                           [](Sum value, double u) { return value < u; });
      out[i] = position - cumulative.begin();
    }
  }
}

}  // namespace

void sample_poisson(Generator& generator, DType dtype, void* out, int64_t n, const void* rate) {
  const Generator::Lock lock(generator, n);
  visit_real(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < n; ++i) {
      const double value = draw_poisson(generator, convert<double>(static_cast<const T*>(rate)[i]));
      static_cast<T*>(out)[i] = convert<T>(value);
    }
  });
}

void sample_binomial(Generator& generator, DType dtype, void* out, int64_t n, const void* count,
                     const void* p) {
  const Generator::Lock lock(generator, n);
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < n; ++i)
      static_cast<T*>(out)[i] =
          draw_binomial(generator, static_cast<const T*>(count)[i], static_cast<const T*>(p)[i]);
  });
}

void sample_gamma(Generator& generator, DType dtype, void* out, int64_t n, const void* shape) {
  const Generator::Lock lock(generator, n);
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < n; ++i)
      static_cast<T*>(out)[i] = std::max(std::numeric_limits<T>::min(),
                                         draw_gamma(generator, static_cast<const T*>(shape)[i]));
  });
}

void sample_categories(Generator& generator, DType dtype, int64_t* out, int64_t samples,
                       const void* weights, int64_t rows, int64_t categories) {
  const Generator::Lock lock(generator, rows * (samples + categories));
  visit_real(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
    choose_categories<Sum>(generator, out, samples, static_cast<const T*>(weights), rows,
                           categories);
  });
}

WeightFault weight_fault(DType dtype, const void* weights, int64_t rows, int64_t categories) {
  return visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* row = static_cast<const T*>(weights);
    for (int64_t r = 0; r < rows; ++r, row += categories) {
      T sum = 0;
      for (int64_t i = 0; i < categories; ++i) {
        if (!(row[i] >= 0 && row[i] < std::numeric_limits<T>::infinity()))
          return WeightFault::kBadWeight;
        sum += row[i];
      }
      if (sum == 0) return WeightFault::kZeroRow;
    }
    return WeightFault::kNone;
  });
}

}  // namespace fb::cpu
