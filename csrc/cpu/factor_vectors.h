// Products of columns with a vector, which the threads share if they are large.
#pragma once

#include <algorithm>
#include <limits>

#include "cpu/kernels/panels.h"
#include "cpu/threads.h"

namespace fb::cpu::factor {

// dots[j] = the sum of column j times x.
template <class T>
void dots_with_columns(int64_t rows, int64_t columns, const T* a, int64_t lda, const T* x,
                       T* dots) {
  parallel_for(columns, std::max<int64_t>(kGrain / (rows + 1), 1), [&](int64_t begin, int64_t end) {
    FB_KERNEL(column_dots<T>)(rows, end - begin, a + begin * lda, lda, x, dots + begin);
  });
}

// y += the sum of the columns times their factors.
template <class T>
void add_scaled_columns(int64_t rows, int64_t columns, const T* a, int64_t lda, const T* factors,
                        T* y) {
  if (columns == 0) return;
  parallel_for(
      rows, std::max<int64_t>(kGrain / (columns + 1), 64), [&](int64_t begin, int64_t end) {
        FB_KERNEL(add_columns<T>)(end - begin, columns, a + begin, lda, factors, y + begin);
      });
}

// Whether sums of the elements' squares can neither overflow nor lose what counts; false for NaN
// and infinities. LAPACK scales matrices that do not.
template <class T>
bool has_safe_squares(int64_t m, int64_t n, const T* a, int64_t lda) {
  T total = 0;
  for (int64_t j = 0; j < n; ++j) {
    T sum;
    FB_KERNEL(column_dots<T>)(m, 1, a + j * lda, lda, a + j * lda, &sum);
    total += sum;
  }
  using Limits = std::numeric_limits<T>;
  return total > Limits::min() / (Limits::epsilon() * Limits::epsilon()) &&
         total < Limits::max() * Limits::epsilon();
}

}  // namespace fb::cpu::factor
