// Checks of elements that operators make before they compute.
#include "cpu/check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <type_traits>

namespace fb::cpu {
namespace {

template <class T>
bool within(const T* data, int64_t n, const ValueRange& range) {
  using Real =
      std::conditional_t<std::is_same_v<T, double> || std::is_integral_v<T>, double, float>;
  const auto low = static_cast<Real>(range.low);
  const auto high = static_cast<Real>(range.high);
  bool all = true;
  for (int64_t i = 0; i < n; ++i) {
    const auto x = convert<Real>(data[i]);
    all &= (range.above ? x > low : x >= low) & (range.below ? x < high : x <= high);
  }
  if constexpr (!std::is_integral_v<T>)
    for (int64_t i = 0; i < n && all && range.whole; ++i) {
      const auto x = convert<Real>(data[i]);
      all = x == std::floor(x) && !std::isinf(x);
    }
  return all;
}

}  // namespace

bool all_within(DType dtype, const void* in, int64_t n, const ValueRange& range) {
  return visit_real(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return within(static_cast<const T*>(in), n, range);
  });
}

bool all_finite(DType dtype, const void* in, int64_t n) {
  return visit_floating_or_complex(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Real = RealOf<T>;
    const Real* const values = static_cast<const Real*>(in);
    const int64_t count = kIsComplex<T> ? 2 * n : n;
    return std::all_of(values, values + count, [](Real x) { return std::isfinite(x); });
  });
}

bool has_zero(DType dtype, const void* in, int64_t n) {
  return visit_all(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const data = static_cast<const T*>(in);
    bool found = false;
    for (int64_t i = 0; i < n; ++i) found |= !convert<bool>(data[i]);
    return found;
  });
}

int64_t find_outside(const int64_t* in, int64_t n, int64_t least, int64_t greatest) {
  return std::find_if(in, in + n, [=](int64_t x) { return x < least || x > greatest; }) - in;
}

bool all_rising(const int64_t* in, int64_t n) {
  return std::is_sorted(in, in + n, std::less_equal<>());
}

}  // namespace fb::cpu
