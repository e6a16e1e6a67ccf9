// Singular values and vectors of a large matrix: see factor.h.
//
// The matrix is reduced to a bidiagonal one, LAPACK divides and conquers that, and the reflectors
// of both sides are applied to the vectors. A tall matrix is replaced by its R first, a wide one by
// its transpose.
#include <algorithm>

#include "cpu/factor.h"
#include "cpu/factor_memory.h"
#include "cpu/factor_vectors.h"
#include "cpu/lapack.h"

namespace fb::cpu::factor {
namespace {

// Columns and rows that are reduced before the rest of the matrix is brought up to date.
constexpr int64_t kColumns = 32;

// What reducing some columns and rows subtracts from the m x n matrix: v y^T + x u^T. Each has its
// columns side by side; v and x have m rows, y and u n.
template <class T>
struct Update {
  T *v, *x, *y, *u;
};

// y -= the columns times their factors.
template <class T>
void subtract_columns(int64_t rows, int64_t columns, const T* a, int64_t lda, T* factors, T* y) {
  for (int64_t j = 0; j < columns; ++j) factors[j] = -factors[j];
  add_scaled_columns(rows, columns, a, lda, factors, y);
}

// The elements of row i.
template <class T>
void copy_row(int64_t i, int64_t columns, const T* a, int64_t lda, T* row) {
  for (int64_t j = 0; j < columns; ++j) row[j] = a[j * lda + i];
}

template <class T>
void scale(int64_t n, T factor, T* x) {
  for (int64_t i = 0; i < n; ++i) x[i] *= factor;
}

// Reduces the first `count` columns and rows of a matrix.
template <class T>
void reduce(int64_t m, int64_t n, int64_t count, T* a, int64_t lda, T* d, T* e, T* tau_q, T* tau_p,
            const Update<T>& update) {
  const auto& [v, x, y, u] = update;
  T factors[kColumns];
  for (int64_t i = 0; i < count; ++i) {
    const int64_t below = m - i, right = n - i - 1;
    T *const v_i = v + i * m + i, *const x_i = x + i * m + i + 1;
    T *const y_i = y + i * n + i + 1, *const u_i = u + i * n + i + 1;
    std::fill(v_i - i, v_i, T(0));
    std::fill(x_i - i - 1, x_i, T(0));
    std::fill(y_i - i - 1, y_i, T(0));
    std::fill(u_i - i - 1, u_i, T(0));

    std::copy(a + i * lda + i, a + i * lda + m, v_i);
    copy_row(i, i, y, n, factors);
    subtract_columns(below, i, v + i, m, factors, v_i);
    copy_row(i, i, u, n, factors);
    subtract_columns(below, i, x + i, m, factors, v_i);
    tau_q[i] = FB_KERNEL(make_reflector<T>)(below, v_i);
    d[i] = *v_i;
    *v_i = 1;
    if (right == 0) return;

    dots_with_columns(below, right, a + (i + 1) * lda + i, lda, v_i, y_i);
    dots_with_columns(below, i, v + i, m, v_i, factors);
    subtract_columns(right, i, y + i + 1, n, factors, y_i);
    dots_with_columns(below, i, x + i, m, v_i, factors);
    subtract_columns(right, i, u + i + 1, n, factors, y_i);
    scale(right, tau_q[i], y_i);

    copy_row(i, right, a + (i + 1) * lda, lda, u_i);
    copy_row(i, i + 1, v, m, factors);
    subtract_columns(right, i + 1, y + i + 1, n, factors, u_i);
    copy_row(i, i, x, m, factors);
    subtract_columns(right, i, u + i + 1, n, factors, u_i);
    tau_p[i] = FB_KERNEL(make_reflector<T>)(right, u_i);
    e[i] = *u_i;
    *u_i = 1;

    std::fill(x_i, x_i + below - 1, T(0));
    add_scaled_columns(below - 1, right, a + (i + 1) * lda + i + 1, lda, u_i, x_i);
    dots_with_columns(right, i + 1, y + i + 1, n, u_i, factors);
    subtract_columns(below - 1, i + 1, v + i + 1, m, factors, x_i);
    dots_with_columns(right, i, u + i + 1, n, u_i, factors);
    subtract_columns(below - 1, i, x + i + 1, m, factors, x_i);
    scale(below - 1, tau_p[i], x_i);
  }
}

// gebrd for m >= n: A = Q B P^T with B upper bidiagonal. Q's reflectors are left in `q`, m x n, and
// P's in `p`, n x n, of which column i acts on the rows after i. A is destroyed.
template <class T>
void bidiagonalise(int64_t m, int64_t n, T* a, int64_t lda, T* d, T* e, T* q, T* tau_q, T* p,
                   T* tau_p) {
  const Scratch<T> memory(2 * (m + n) * kColumns);
  for (int64_t first = 0; first < n; first += kColumns) {
    const int64_t count = std::min(kColumns, n - first);
    const int64_t rows = m - first, columns = n - first;
    T* const v = memory.get();
    T* const x = v + rows * count;
    T* const y = x + rows * count;
    T* const u = y + columns * count;
    T* const corner = a + first * lda + first;
    reduce<T>(rows, columns, count, corner, lda, d + first, e + first, tau_q + first, tau_p + first,
              {v, x, y, u});
    copy_matrix(rows, count, v, rows, q + first * m + first, m);
    copy_matrix(columns, count, u, columns, p + first * n + first, n);
    const int64_t rest = columns - count;
    if (rest == 0) continue;
    for (int64_t i = 0; i < 2 * columns * count; ++i) y[i] = -y[i];
    const int64_t tile = rest <= 1024 ? 32 : 128;
    for_each_tile(rest, tile, 2 * rows * count * tile, [&](int64_t j, int64_t width) {
      product<T>(rows - count, width, 2 * count, {v + count, rows}, {y + count + j, columns, true},
                 corner + (count + j) * lda + count, lda, true);
    });
  }
}

// The first `columns` columns of [inner 0; 0 1] for a square inner matrix.
template <class T>
void embed(int64_t n, const T* inner, int64_t m, int64_t columns, T* out, int64_t ld) {
  for (int64_t j = 0; j < columns; ++j) {
    T* const column = out + j * ld;
    if (j < n) {
      std::copy(inner + j * n, inner + (j + 1) * n, column);
      std::fill(column + n, column + m, T(0));
    } else {
      std::fill(column, column + m, T(0));
      column[j] = 1;
    }
  }
}

// For m >= n; u has `columns` columns.
template <class T>
int64_t tall(int64_t m, int64_t n, T* a, int64_t lda, T* s, int64_t columns, T* u, int64_t ldu,
             T* vt, int64_t ldvt) {
  if (2 * m > 3 * n) {
    const Scratch<T> memory(2 * n * n + n);
    T *const r = memory.get(), *const inner = r + n * n, *const tau = inner + n * n;
    qr(m, n, a, lda, tau);
    for (int64_t j = 0; j < n; ++j) {
      std::copy(a + j * lda, a + j * lda + j + 1, r + j * n);
      std::fill(r + j * n + j + 1, r + (j + 1) * n, T(0));
    }
    const int64_t info = tall(n, n, r, n, s, n, inner, n, vt, ldvt);
    if (info != 0) return info;
    embed(n, inner, m, columns, u, ldu);
    multiply_q(true, false, m, columns, n, a, lda, tau, u, ldu);
    return 0;
  }
  const Scratch<T> memory(n * (m + 2 * n + 3));
  T* const q = memory.get();
  T* const p = q + m * n;
  T* const inner = p + n * n;
  T* const e = inner + n * n;
  T* const tau_q = e + n;
  T* const tau_p = tau_q + n;
  bidiagonalise(m, n, a, lda, s, e, q, tau_q, p, tau_p);
  const int64_t info = lapack::bdsdc(n, s, e, inner, n, vt, ldvt);
  if (info != 0) return info;
  embed(n, inner, m, columns, u, ldu);
  multiply_q(true, false, m, columns, n, q, m, tau_q, u, ldu);
  multiply_q(false, true, n, n - 1, n - 1, p + 1, n, tau_p, vt + ldvt, ldvt);
  return 0;
}

// For m < n; vt has `rows` rows.
template <class T>
int64_t wide(int64_t m, int64_t n, const T* a, int64_t lda, T* s, T* u, int64_t ldu, T* vt,
             int64_t ldvt, int64_t rows) {
  const Scratch<T> memory(n * (m + rows) + m * m);
  T *const turned = memory.get(), *const left = turned + n * m, *const right = left + n * rows;
  transpose(m, n, a, lda, turned, n);
  const int64_t info = tall(n, m, turned, n, s, rows, left, n, right, m);
  transpose(n, rows, left, n, vt, ldvt);
  transpose(m, m, right, m, u, ldu);
  return info;
}

}  // namespace

template <class T>
int64_t svd(char jobz, int64_t m, int64_t n, T* a, int64_t lda, RealOf<T>* s, T* u, int64_t ldu,
            T* vt, int64_t ldvt) {
  // Smaller ones gain nothing.
  constexpr int64_t kLarge = 128;
  if constexpr (kShares<T>) {
    // LAPACK scales what would overflow or underflow.
    if (jobz != 'N' && std::min(m, n) > kLarge && has_safe_squares(m, n, a, lda)) {
      if (m >= n) return tall(m, n, a, lda, s, jobz == 'A' ? m : n, u, ldu, vt, ldvt);
      return wide(m, n, a, lda, s, u, ldu, vt, ldvt, jobz == 'A' ? n : m);
    }
  }
  return lapack::gesdd(jobz, m, n, a, lda, s, u, ldu, vt, ldvt);
}

#define FB_INSTANTIATE(T) \
  template int64_t svd(char, int64_t, int64_t, T*, int64_t, RealOf<T>*, T*, int64_t, T*, int64_t);
FB_INSTANTIATE(float)
FB_INSTANTIATE(double)
FB_INSTANTIATE(Complex<float>)
FB_INSTANTIATE(Complex<double>)
#undef FB_INSTANTIATE

}  // namespace fb::cpu::factor
