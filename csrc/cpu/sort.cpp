// What follows from sorted rows: modes, and the ranks of medians.
#include "cpu/sort.h"

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

}  // namespace

void mode_rows(const SortRows& sorted, const int64_t* positions, void* values, int64_t* indices) {
  visit_real(sorted.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const data = static_cast<const T*>(sorted.in);
    parallel_for(sorted.rows, kGrain / (sorted.n + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t at = r * sorted.n + longest_run_end(data + r * sorted.n, sorted.n);
        static_cast<T*>(values)[r] = element_at(data + at);
        indices[r] = positions[at];
      }
    });
  });
}

void median_ranks(int64_t* ranks, int64_t rows, int64_t n, bool ignore_nan) {
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t numbers = n - ranks[r];
    const bool nan_wins = ranks[r] > 0 && (!ignore_nan || numbers == 0);
    ranks[r] = nan_wins ? numbers : (numbers - 1) / 2;
  }
}

}  // namespace fb::cpu
