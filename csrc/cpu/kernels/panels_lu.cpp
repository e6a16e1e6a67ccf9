// LU and Cholesky of a panel, and the triangular solutions that go with them: see panels.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cpu/kernels/panel_vectors.h"
#include "cpu/kernels/panels.h"

namespace fb::cpu::FB_ISA {
namespace {

// The row of the largest element of a column from row k on, the first of several; or of a NaN.
template <class T>
int64_t pivot_row(const T* column, int64_t k, int64_t rows) {
  const auto larger = [](const auto& a, const auto& b) { return (a > b) | (a != a) ? a : b; };
  int64_t i = first_of_vector<T>(k);
  Vec<T> best = lanes_from<T>(k - i) & lanes_before<T>(rows - i)
                    ? magnitude<T>(load_vector(column + i))
                    : broadcast_vector<T>(-1);
  for (i += kLanes<T>; i < rows; i += kLanes<T>) {
    Vec<T> v = magnitude<T>(load_vector(column + i));
    if (rows - i < kLanes<T>) v = lanes_before<T>(rows - i) ? v : broadcast_vector<T>(-1);
    best = larger(v, best);
  }
  const T most = fold_lanes<T, kLanes<T>>(best, larger);
  const bool is_nan = most != most;
  const Vec<T> wanted = broadcast_vector<T>(most);
  // Whole vectors without it are passed over.
  for (i = k; i + kLanes<T> <= rows; i += kLanes<T>) {
    const Vec<T> v = magnitude<T>(load_vector(column + i));
    if (is_nan ? any(v != v) : any(v == wanted)) break;
  }
  while (is_nan ? column[i] == column[i] : std::abs(column[i]) != most) ++i;
  return i;
}

// Subtracts column k's part below row k, times each column's element in row k, from columns
// [first, last).
template <class T, int count>
FB_FN void eliminate(const Panel<T>& a, int64_t k, int64_t j) {
  const T* l = a.column(k);
  T* c[count];
  Vec<T> u[count];
  for (int s = 0; s < count; ++s) {
    c[s] = a.column(j + s);
    u[s] = broadcast_vector<T>(c[s][k]);
  }
  int64_t i = first_of_vector<T>(k);
  const auto below = lanes_from<T>(k + 1 - i);
  const Vec<T> head = load_vector(l + i);
  for (int s = 0; s < count; ++s) {
    const Vec<T> old = load_vector(c[s] + i);
    store(c[s] + i, below ? old - head * u[s] : old);
  }
  for (i += kLanes<T>; i < a.rows; i += kLanes<T>) {
    const Vec<T> v = load_vector(l + i);
    for (int s = 0; s < count; ++s) store(c[s] + i, load_vector(c[s] + i) - v * u[s]);
  }
}

// x -= l x[k] for the rows that `keep` does not hold back, from the vector of row k on.
template <class T, int count>
FB_FN void forward(const Panel<const T>& a, T* const* x) {
  for (int64_t k = 0; k + 1 < a.rows; ++k) {
    const T* l = a.column(k);
    Vec<T> factor[count];
    for (int s = 0; s < count; ++s) factor[s] = broadcast_vector<T>(x[s][k]);
    int64_t i = first_of_vector<T>(k);
    const auto below = lanes_from<T>(k + 1 - i);
    const Vec<T> head = load_vector(l + i);
    for (int s = 0; s < count; ++s) {
      const Vec<T> old = load_vector(x[s] + i);
      store(x[s] + i, below ? old - head * factor[s] : old);
    }
    for (i += kLanes<T>; i < a.rows; i += kLanes<T>) {
      const Vec<T> v = load_vector(l + i);
      for (int s = 0; s < count; ++s) store(x[s] + i, load_vector(x[s] + i) - v * factor[s]);
    }
  }
}

template <class T, int count>
FB_FN void backward(const Panel<const T>& a, T* const* x) {
  for (int64_t k = a.rows; k-- > 0;) {
    const T* u = a.column(k);
    Vec<T> factor[count];
    for (int s = 0; s < count; ++s) {
      x[s][k] /= u[k];
      factor[s] = broadcast_vector<T>(x[s][k]);
    }
    const int64_t tail = first_of_vector<T>(k);
    for (int64_t i = 0; i < tail; i += kLanes<T>) {
      const Vec<T> v = load_vector(u + i);
      for (int s = 0; s < count; ++s) store(x[s] + i, load_vector(x[s] + i) - v * factor[s]);
    }
    const auto above = lanes_before<T>(k - tail);
    const Vec<T> last = load_vector(u + tail);
    for (int s = 0; s < count; ++s) {
      const Vec<T> old = load_vector(x[s] + tail);
      store(x[s] + tail, above ? old - last * factor[s] : old);
    }
  }
}

// Calls f.template operator()<count>(columns) for all columns of x, four at a time.
template <class T, class F>
FB_FN void by_columns(const Panel<T>& x, F f) {
  int64_t j = 0;
  for (; j + 4 <= x.columns; j += 4) {
    T* columns[] = {x.column(j), x.column(j + 1), x.column(j + 2), x.column(j + 3)};
    f.template operator()<4>(columns);
  }
  for (; j < x.columns; ++j) {
    T* column = x.column(j);
    f.template operator()<1>(&column);
  }
}

}  // namespace

template <class T>
int64_t lu_panel(const Panel<T>& a, int32_t* pivots) {
  int64_t info = 0;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    T* column = a.column(k);
    const int64_t p = pivot_row(column, k, a.rows);
    pivots[k] = static_cast<int32_t>(p + 1);
    const T pivot = column[p];
    if (pivot == 0) {
      if (info == 0) info = k + 1;
      continue;
    }
    if (p != k) {
      for (int64_t j = 0; j < a.columns; ++j) std::swap(a.column(j)[k], a.column(j)[p]);
    }
    // The reciprocal of a subnormal number may be infinite.
    const bool divides = std::abs(pivot) < std::numeric_limits<T>::min();
    const Vec<T> scale = broadcast_vector<T>(divides ? pivot : 1 / pivot);
    int64_t i = first_of_vector<T>(k);
    const Vec<T> head = load_vector(column + i);
    store(column + i, lanes_from<T>(k + 1 - i) ? (divides ? head / scale : head * scale) : head);
    for (i += kLanes<T>; i < a.rows; i += kLanes<T>) {
      const Vec<T> v = load_vector(column + i);
      store(column + i, divides ? v / scale : v * scale);
    }
    int64_t j = k + 1;
    for (; j + 4 <= a.columns; j += 4) eliminate<T, 4>(a, k, j);
    for (; j < a.columns; ++j) eliminate<T, 1>(a, k, j);
  }
  return info;
}

template <class T>
void solve_unit_lower(const Panel<const T>& a, const Panel<T>& x) {
  by_columns(x, [&]<int count>(T* const* columns) { forward<T, count>(a, columns); });
}

template <class T>
void solve_upper(const Panel<const T>& a, const Panel<T>& x) {
  by_columns(x, [&]<int count>(T* const* columns) { backward<T, count>(a, columns); });
}

template <class T>
int64_t cholesky_panel(const Panel<T>& a) {
  for (int64_t k = 0; k < a.columns; ++k) {
    T* column = a.column(k);
    if (column[k] <= 0) return k + 1;
    const T root = std::sqrt(column[k]);
    const Vec<T> scale = broadcast_vector<T>(1 / root);
    for (int64_t i = first_of_vector<T>(k); i < a.rows; i += kLanes<T>)
      store(column + i, load_vector(column + i) * scale);
    column[k] = root;
    for (int64_t j = k + 1; j < a.columns; ++j) {
      T* other = a.column(j);
      const Vec<T> factor = broadcast_vector<T>(column[j]);
      for (int64_t i = first_of_vector<T>(j); i < a.rows; i += kLanes<T>)
        store(other + i, load_vector(other + i) - load_vector(column + i) * factor);
    }
  }
  return 0;
}

template <class T>
void solve_right_transposed(const Panel<const T>& a, const Panel<T>& x) {
  constexpr int count = 4;
  const auto vectors = [&]<int n>(int64_t i) {
    for (int64_t j = 0; j < a.columns; ++j) {
      Vec<T> sums[n];
      for (int s = 0; s < n; ++s) sums[s] = load_vector(x.column(j) + i + s * kLanes<T>);
      for (int64_t k = 0; k < j; ++k) {
        const Vec<T> factor = broadcast_vector<T>(a.column(k)[j]);
        for (int s = 0; s < n; ++s)
          sums[s] -= load_vector(x.column(k) + i + s * kLanes<T>) * factor;
      }
      const Vec<T> scale = broadcast_vector<T>(1 / a.column(j)[j]);
      for (int s = 0; s < n; ++s) store(x.column(j) + i + s * kLanes<T>, sums[s] * scale);
    }
  };
  int64_t i = 0;
  for (; i + count * kLanes<T> <= x.ld && i < x.rows; i += count * kLanes<T>)
    vectors.template operator()<count>(i);
  for (; i < x.rows; i += kLanes<T>) vectors.template operator()<1>(i);
}

#define FB_INSTANTIATE(T)                                                 \
  template int64_t lu_panel(const Panel<T>&, int32_t*);                   \
  template void solve_unit_lower(const Panel<const T>&, const Panel<T>&); \
  template void solve_upper(const Panel<const T>&, const Panel<T>&);      \
  template int64_t cholesky_panel(const Panel<T>&);                       \
  template void solve_right_transposed(const Panel<const T>&, const Panel<T>&);
FB_INSTANTIATE(float)
FB_INSTANTIATE(double)
#undef FB_INSTANTIATE

}  // namespace fb::cpu::FB_ISA
