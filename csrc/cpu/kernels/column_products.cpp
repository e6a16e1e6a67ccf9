// Products of columns with a vector: see panels.h.
#include "cpu/kernels/column_sums.h"
#include "cpu/kernels/panels.h"

namespace fb::cpu::FB_ISA {
namespace {

// y += the columns times their factors, for `count` whole vectors of rows or a part of one.
template <class T, int count>
FB_FN void add_rows(int64_t columns, const T* a, int64_t ld, const T* factors, T* y) {
  Vec<T> sums[count];
  for (int s = 0; s < count; ++s) sums[s] = load_vector(y + s * kLanes<T>);
  for (int64_t j = 0; j < columns; ++j) {
    const Vec<T> factor = broadcast_vector<T>(factors[j]);
    for (int s = 0; s < count; ++s) sums[s] += load_vector(a + j * ld + s * kLanes<T>) * factor;
  }
  for (int s = 0; s < count; ++s) store(y + s * kLanes<T>, sums[s]);
}

}  // namespace

template <class T>
void column_dots(int64_t rows, int64_t columns, const T* a, int64_t ld, const T* x, T* sums) {
  int64_t j = 0;
  for (; j + 4 <= columns; j += 4) dots<T, 4>(rows, a + j * ld, ld, x, sums + j);
  for (; j < columns; ++j) dots<T, 1>(rows, a + j * ld, ld, x, sums + j);
}

template <class T>
void add_columns(int64_t rows, int64_t columns, const T* a, int64_t ld, const T* factors, T* y) {
  constexpr int64_t L = kLanes<T>;
  int64_t i = 0;
  for (; i + 4 * L <= rows; i += 4 * L) add_rows<T, 4>(columns, a + i, ld, factors, y + i);
  for (; i + L <= rows; i += L) add_rows<T, 1>(columns, a + i, ld, factors, y + i);
  if (i == rows) return;
  const int64_t rest = rows - i;
  Vec<T> sum = load_part(y + i, rest, T(0));
  for (int64_t j = 0; j < columns; ++j)
    sum += load_part(a + j * ld + i, rest, T(0)) * broadcast_vector<T>(factors[j]);
  store_part(y + i, sum, rest);
}

#define FB_INSTANTIATE(T)                                                       \
  template void column_dots(int64_t, int64_t, const T*, int64_t, const T*, T*); \
  template void add_columns(int64_t, int64_t, const T*, int64_t, const T*, T*);
FB_INSTANTIATE(float)
FB_INSTANTIATE(double)
#undef FB_INSTANTIATE

}  // namespace fb::cpu::FB_ISA
