// Random numbers whose parameters differ from element to element: those of rejection samplers, and
// weighted choice.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/random.h"
#include "scalar/samplers.h"

namespace fb::cpu {
namespace {

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
      const auto each = convert<double>(static_cast<const T*>(rate)[i]);
      FB_CHECK(each >= 0, "invalid Poisson rate, expected rate to be non-negative");
      static_cast<T*>(out)[i] = convert<T>(scalar::draw_poisson(generator, each));
    }
  });
}

void sample_binomial(Generator& generator, DType dtype, void* out, int64_t n, const void* count,
                     const void* p) {
  const Generator::Lock lock(generator, n);
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < n; ++i)
      static_cast<T*>(out)[i] = scalar::draw_binomial(generator, static_cast<const T*>(count)[i],
                                                      static_cast<const T*>(p)[i]);
  });
}

void sample_gamma(Generator& generator, DType dtype, void* out, int64_t n, const void* shape) {
  const Generator::Lock lock(generator, n);
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < n; ++i)
      static_cast<T*>(out)[i] =
          std::max(std::numeric_limits<T>::min(),
                   scalar::draw_gamma(generator, static_cast<const T*>(shape)[i]));
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
