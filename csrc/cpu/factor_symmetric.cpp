// Eigenvalues and vectors of a large symmetric matrix: see factor.h.
//
// The matrix is reduced to a tridiagonal one, LAPACK divides and conquers that, and the reflectors
// are applied to the vectors. Half of the reduction is products of the matrix with a vector: both
// triangles are kept up to date, so that those are sums along whole columns, which threads share.
#include <algorithm>

#include "cpu/factor.h"
#include "cpu/factor_memory.h"
#include "cpu/factor_vectors.h"
#include "cpu/lapack.h"

namespace fb::cpu::factor {
namespace {

// Columns that are reduced before the rest of the matrix is brought up to date.
constexpr int64_t kColumns = 32;

template <class T>
void mirror(bool upper, int64_t n, T* a, int64_t lda) {
  constexpr int64_t kTile = 32;
  for (int64_t j = 0; j < n; j += kTile) {
    for (int64_t i = j; i < n; i += kTile) {
      for (int64_t c = j; c < std::min(j + kTile, n); ++c) {
        for (int64_t r = std::max(i, c + 1); r < std::min(i + kTile, n); ++r) {
          T& below = a[c * lda + r];
          T& above = a[r * lda + c];
          (upper ? below : above) = upper ? above : below;
        }
      }
    }
  }
}

// Reduces `count` columns of the n x n matrix: reflectors are left below the subdiagonal. `v` and
// `w`, with n rows in columns side by side, become what is subtracted from the rest, v w^T + w v^T.
template <class T>
void reduce_columns(int64_t n, int64_t count, T* a, int64_t lda, T* d, T* e, T* tau, T* v, T* w) {
  T sums[2 * kColumns];
  for (int64_t i = 0; i < count; ++i) {
    T* const column = a + i * lda;
    for (int64_t j = 0; j < i; ++j) {
      const T v_ij = v[j * n + i], w_ij = w[j * n + i];
      sums[j] = -w_ij;
      sums[i + j] = -v_ij;
    }
    add_scaled_columns(n - i, i, v + i, n, sums, column + i);
    add_scaled_columns(n - i, i, w + i, n, sums + i, column + i);
    d[i] = column[i];
    if (i + 1 >= n) return;

    const int64_t rest = n - i - 1;
    T* const v_i = v + i * n;
    T* const w_i = w + i * n;
    tau[i] = FB_KERNEL(make_reflector<T>)(rest, column + i + 1);
    e[i] = column[i + 1];
    std::fill(v_i, v_i + i + 1, T(0));
    std::fill(w_i, w_i + i + 1, T(0));
    v_i[i + 1] = 1;
    std::copy(column + i + 2, column + n, v_i + i + 2);

    dots_with_columns(rest, rest, a + (i + 1) * lda + i + 1, lda, v_i + i + 1, w_i + i + 1);
    // What the columns before would have subtracted from the matrix.
    dots_with_columns(rest, i, w + i + 1, n, v_i + i + 1, sums);
    dots_with_columns(rest, i, v + i + 1, n, v_i + i + 1, sums + i);
    for (int64_t j = 0; j < 2 * i; ++j) sums[j] = -sums[j];
    add_scaled_columns(rest, i, v + i + 1, n, sums, w_i + i + 1);
    add_scaled_columns(rest, i, w + i + 1, n, sums + i, w_i + i + 1);
    T dot;
    for (int64_t r = i + 1; r < n; ++r) w_i[r] *= tau[i];
    dots_with_columns(rest, 1, w_i + i + 1, n, v_i + i + 1, &dot);
    const T factor = -tau[i] * dot / 2;
    add_scaled_columns(rest, 1, v_i + i + 1, n, &factor, w_i + i + 1);
  }
}

// sytrd, from and in the lower triangle; the upper one is overwritten.
template <class T>
void tridiagonalise(int64_t n, T* a, int64_t lda, T* d, T* e, T* tau) {
  const Scratch<T> memory(4 * n * kColumns);
  for (int64_t first = 0; first < n; first += kColumns) {
    const int64_t count = std::min(kColumns, n - first);
    const int64_t size = n - first;
    T* const v = memory.get();
    T* const w = v + size * count;  // [v w], and then [-w -v]
    T* const other = w + size * count;
    T* const corner = a + first * lda + first;
    reduce_columns(size, count, corner, lda, d + first, e + first, tau + first, v, w);
    const int64_t rest = size - count;
    if (rest <= 0) continue;
    for (int64_t i = 0; i < size * count; ++i) {
      other[i] = -w[i];
      other[size * count + i] = -v[i];
    }
    const int64_t tile = rest <= 1024 ? 32 : 128;
    for_each_tile(rest, tile, 2 * rest * count * tile, [&](int64_t j, int64_t columns) {
      product<T>(rest, columns, 2 * count, {v + count, size}, {other + count + j, size, true},
                 corner + (count + j) * lda + count, lda, true);
    });
  }
}

template <class T>
int64_t large(bool upper, int64_t n, T* a, int64_t lda, T* values) {
  mirror(upper, n, a, lda);
  if (!has_safe_squares(n, n, a, lda)) return lapack::syevd('V', 'L', n, a, lda, values);
  const Scratch<T> memory(2 * n + n * n);
  T* const e = memory.get();
  T* const tau = e + n;
  T* const vectors = tau + n;
  tridiagonalise(n, a, lda, values, e, tau);
  const int64_t info = lapack::stedc(n, values, e, vectors, n);
  if (info != 0) return info;
  multiply_q(true, false, n - 1, n, n - 1, a + 1, lda, tau, vectors + 1, n);
  copy_matrix(n, n, vectors, n, a, lda);
  return 0;
}

}  // namespace

template <class T>
int64_t symmetric_eigen(bool upper, int64_t n, T* a, int64_t lda, RealOf<T>* values) {
  constexpr int64_t kSmall = 128;
  if constexpr (kShares<T>) {
    if (n > kSmall) return large(upper, n, a, lda, values);
  }
  return lapack::syevd('V', upper ? 'U' : 'L', n, a, lda, values);
}

template int64_t symmetric_eigen(bool, int64_t, float*, int64_t, float*);
template int64_t symmetric_eigen(bool, int64_t, double*, int64_t, double*);
template int64_t symmetric_eigen(bool, int64_t, Complex<float>*, int64_t, float*);
template int64_t symmetric_eigen(bool, int64_t, Complex<double>*, int64_t, double*);

}  // namespace fb::cpu::factor
