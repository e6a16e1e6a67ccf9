// Dot products of columns with a vector, four columns at a time. A column's sum is the same
// whichever are computed with it.
#pragma once

#include "cpu/kernels/panel_vectors.h"

namespace fb::cpu::FB_ISA {

template <class T>
FB_FN T sum_of(const Vec<T>& v) {
  return fold_lanes<T, kLanes<T>>(v, [](const auto& a, const auto& b) { return a + b; });
}

template <class T, int count>
FB_FN void dots(int64_t rows, const T* a, int64_t ld, const T* x, T* sums) {
  constexpr int64_t L = kLanes<T>;
  Vec<T> even[count] = {}, odd[count] = {};
  int64_t i = 0;
  for (; i + 2 * L <= rows; i += 2 * L) {
    const Vec<T> x0 = load_vector(x + i), x1 = load_vector(x + i + L);
    for (int s = 0; s < count; ++s) {
      even[s] += load_vector(a + s * ld + i) * x0;
      odd[s] += load_vector(a + s * ld + i + L) * x1;
    }
  }
  if (i + L <= rows) {
    const Vec<T> x0 = load_vector(x + i);
    for (int s = 0; s < count; ++s) even[s] += load_vector(a + s * ld + i) * x0;
    i += L;
  }
  if (i < rows) {
    const Vec<T> x0 = load_part(x + i, rows - i, T(0));
    for (int s = 0; s < count; ++s) odd[s] += load_part(a + s * ld + i, rows - i, T(0)) * x0;
  }
  for (int s = 0; s < count; ++s) sums[s] = sum_of<T>(even[s] + odd[s]);
}

}  // namespace fb::cpu::FB_ISA
