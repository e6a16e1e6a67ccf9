// Products of columns with a vector, and their norms: see panels.h.
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

// Returns whether there are any of which too little is left.
template <class T>
FB_FN bool take_squares_of(const Vec<T>& row, T limit, Vec<T>* squares, Vec<T>* whole) {
  const Vec<T> left = *squares - row * row;
  const auto lost = (left <= *whole * broadcast_vector(limit)) & (*squares != 0);
  *squares = *squares != 0 ? left : *squares;
  *whole = lost ? Vec<T>{} : *whole;
  return any(lost);
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

template <class T>
int64_t first_largest(int64_t n, const T* x) {
  constexpr int64_t L = kLanes<T>;
  Vec<T> most = broadcast_vector(x[0]);
  int64_t i = 0;
  for (; i + L <= n; i += L) most = larger(most, load_vector(x + i));
  if (i < n) most = larger(most, load_part(x + i, n - i, x[0]));
  const T largest =
      fold_lanes<T, kLanes<T>>(most, [](const auto& a, const auto& b) { return larger(a, b); });
  for (i = 0; i + L <= n; i += L) {
    const auto found = load_vector(x + i) == largest;
    if (any(found)) return i + first_lane(found);
  }
  while (i < n && x[i] != largest) ++i;
  return i < n ? i : 0;  // 0 for NaN
}

template <class T>
bool take_squares(int64_t n, const T* row, T limit, T* squares, T* whole) {
  constexpr int64_t L = kLanes<T>;
  bool lost = false;
  int64_t j = 0;
  for (; j + L <= n; j += L) {
    Vec<T> left = load_vector(squares + j), of = load_vector(whole + j);
    lost |= take_squares_of(load_vector(row + j), limit, &left, &of);
    store(squares + j, left);
    store(whole + j, of);
  }
  if (j == n) return lost;
  const int64_t rest = n - j;
  Vec<T> left = load_part(squares + j, rest, T(0)), of = load_part(whole + j, rest, T(0));
  lost |= take_squares_of(load_part(row + j, rest, T(0)), limit, &left, &of);
  store_part(squares + j, left, rest);
  store_part(whole + j, of, rest);
  return lost;
}

#define FB_INSTANTIATE(T)                                                       \
  template void column_dots(int64_t, int64_t, const T*, int64_t, const T*, T*); \
  template void add_columns(int64_t, int64_t, const T*, int64_t, const T*, T*); \
  template int64_t first_largest(int64_t, const T*);                            \
  template bool take_squares(int64_t, const T*, T, T*, T*);
FB_INSTANTIATE(float)
FB_INSTANTIATE(double)
#undef FB_INSTANTIATE

}  // namespace fb::cpu::FB_ISA
