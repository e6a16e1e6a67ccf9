// QR of a panel by Householder's reflections: see panels.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/kernels/column_sums.h"
#include "cpu/kernels/panels.h"

namespace fb::cpu::FB_ISA {
namespace {

// The norm of n elements. Squares that overflow or underflow are scaled.
template <class T>
T norm_of(int64_t n, const T* x) {
  constexpr T kSmall = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
  constexpr T kLarge = std::numeric_limits<T>::max();
  T plain;
  dots<T, 1>(n, x, n, x, &plain);
  if (plain > kSmall && plain <= kLarge) return std::sqrt(plain);
  T largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  if (largest == 0 || !(largest <= kLarge)) return std::sqrt(plain);
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T part = x[i] / largest;
    sum += part * part;
  }
  return std::sqrt(sum) * largest;
}

// X = (I - tau v v^T) X for columns of X, whose rows before k are left alone. v is in whole vectors
// from k's on, zero in the rows before k and after the last.
template <class T, int count>
FB_FN void reflect(const T* v, T tau, int64_t k, int64_t rows, T* const* x) {
  const int64_t first = first_of_vector<T>(k);
  const auto inside = lanes_from<T>(k - first);
  Vec<T> sums[count];
  const Vec<T> head = load_vector(v + first), none{};
  for (int s = 0; s < count; ++s) sums[s] = head * (inside ? load_vector(x[s] + first) : none);
  for (int64_t i = first + kLanes<T>; i < rows; i += kLanes<T>) {
    const Vec<T> piece = load_vector(v + i);
    for (int s = 0; s < count; ++s) sums[s] += piece * load_vector(x[s] + i);
  }
  Vec<T> factors[count];
  for (int s = 0; s < count; ++s) factors[s] = broadcast_vector<T>(tau * sum_of<T>(sums[s]));
  for (int s = 0; s < count; ++s) {
    const Vec<T> old = load_vector(x[s] + first);
    store(x[s] + first, inside ? old - head * factors[s] : old);
  }
  for (int64_t i = first + kLanes<T>; i < rows; i += kLanes<T>) {
    const Vec<T> piece = load_vector(v + i);
    for (int s = 0; s < count; ++s) store(x[s] + i, load_vector(x[s] + i) - piece * factors[s]);
  }
}

template <class T>
void reflect_columns(const T* v, T tau, int64_t k, const Panel<T>& x, int64_t j) {
  for (; j + 4 <= x.columns; j += 4) {
    T* columns[] = {x.column(j), x.column(j + 1), x.column(j + 2), x.column(j + 3)};
    reflect<T, 4>(v, tau, k, x.rows, columns);
  }
  for (; j < x.columns; ++j) {
    T* column = x.column(j);
    reflect<T, 1>(v, tau, k, x.rows, &column);
  }
}

// The vector of a stored reflector, as `reflect` wants it.
template <class T>
void unpack(const T* column, int64_t k, int64_t rows, T* v) {
  std::fill(v + first_of_vector<T>(k), v + k, T(0));
  v[k] = 1;
  std::copy(column + k + 1, column + rows, v + k + 1);
  std::fill(v + rows, v + padded_rows(rows), T(0));
}

}  // namespace

template <class T>
T make_reflector(int64_t n, T* x) {
  const T below = norm_of(n - 1, x + 1);
  if (below == 0) return 0;
  const T head = x[0];
  const T size = std::hypot(head, below);
  const T beta = std::signbit(head) ? size : -size;
  const T span = head - beta;
  // Where the reciprocal would overflow, the elements are divided.
  if (std::abs(span) >= 1 / std::numeric_limits<T>::max()) {
    const T factor = 1 / span;
    for (int64_t i = 1; i < n; ++i) x[i] *= factor;
  } else {
    for (int64_t i = 1; i < n; ++i) x[i] /= span;
  }
  x[0] = beta;
  return (beta - head) / beta;
}

template <class T>
void qr_panel(const Panel<T>& a, T* tau, T* work) {
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    tau[k] = make_reflector(a.rows - k, a.column(k) + k);
    if (tau[k] == 0) continue;
    unpack(a.column(k), k, a.rows, work);
    reflect_columns(work, tau[k], k, a, k + 1);
  }
}

template <class T>
void multiply_by_q(const Panel<const T>& a, const T* tau, int64_t count, const Panel<T>& x,
                   T* work) {
  for (int64_t k = count; k-- > 0;) {
    if (tau[k] == 0) continue;
    unpack(a.column(k), k, a.rows, work);
    reflect_columns(work, tau[k], k, x, 0);
  }
}

#define FB_INSTANTIATE(T)                          \
  template T make_reflector(int64_t, T*);          \
  template void qr_panel(const Panel<T>&, T*, T*); \
  template void multiply_by_q(const Panel<const T>&, const T*, int64_t, const Panel<T>&, T*);
FB_INSTANTIATE(float)
FB_INSTANTIATE(double)
#undef FB_INSTANTIATE

}  // namespace fb::cpu::FB_ISA
