// What is read off sorted rows: modes and quantiles.
#include "cpu/sort.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// The longest run of equal values in a sorted row, the first among the longest. NaN equals nothing.
template <class T>
int64_t longest_run_end(const T* sorted, int64_t n) {
  int64_t best_end = 0;
  int64_t best_length = 0;
  for (int64_t begin = 0, end; begin < n; begin = end) {
    end = begin + 1;
    while (end < n && convert<double>(sorted[end]) == convert<double>(sorted[begin])) ++end;
    if (end - begin <= best_length) continue;
    best_length = end - begin;
    best_end = end;
  }
  return best_end - 1;
}

template <class T>
T between(T low, T high, T weight) {
  return weight < T(0.5) ? low + weight * (high - low) : high - (high - low) * (T(1) - weight);
}

// The quantile of the first n elements of a sorted row.
template <class T>
T quantile_of(const T* sorted, int64_t n, T q, Interpolation how) {
  const T rank = q * static_cast<T>(n - 1);
  const T floor = std::floor(rank);
  const T low = sorted[static_cast<int64_t>(floor)];
  const T high = sorted[std::min(static_cast<int64_t>(std::ceil(rank)), n - 1)];
  switch (how) {
    case Interpolation::kLower: return low;
    case Interpolation::kHigher: return high;
    case Interpolation::kMidpoint: return between(low, high, T(0.5));
    case Interpolation::kNearest: return sorted[static_cast<int64_t>(std::nearbyint(rank))];
    case Interpolation::kLinear: break;
  }
  return between(low, high, rank - floor);
}

}  // namespace

void mode_rows(const SortRows& sorted, const int64_t* positions, void* values, int64_t* indices) {
  visit_real(sorted.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const data = static_cast<const T*>(sorted.in);
    parallel_for(sorted.rows, kGrain / (sorted.n + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t at = r * sorted.n + longest_run_end(data + r * sorted.n, sorted.n);
        static_cast<T*>(values)[r] = data[at];
        indices[r] = positions[at];
      }
    });
  });
}

void quantile_rows(const SortRows& sorted, const int64_t* nan_counts, bool ignore_nan,
                   const void* q, int64_t q_count, Interpolation how, void* out) {
  visit_floating(sorted.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const data = static_cast<const T*>(sorted.in);
    for (int64_t r = 0; r < sorted.rows; ++r)
      for (int64_t i = 0; i < q_count; ++i) {
        const int64_t nans = nan_counts[r];
        const bool has_value = nans == 0 || (ignore_nan && nans < sorted.n);
        static_cast<T*>(out)[r * q_count + i] =
            has_value ? quantile_of(data + r * sorted.n, sorted.n - nans,
                                    static_cast<const T*>(q)[i], how)
                      : std::numeric_limits<T>::quiet_NaN();
      }
  });
}

}  // namespace fb::cpu
