// Least squares by QR with exchanges of columns: see factor.h.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "cpu/factor.h"
#include "cpu/factor_memory.h"
#include "cpu/factor_vectors.h"
#include "cpu/lapack.h"

namespace fb::cpu::factor {
namespace {

// Columns that are factored before the rest of the matrix is brought up to date.
constexpr int64_t kColumns = 32;

// A P = Q R in place, for m >= n: the column of A that is column j of A P is order[j].
template <class T>
class PivotedQr {
 public:
  PivotedQr(int64_t m, int64_t n, T* a, int64_t lda, T* tau, int64_t* order)
      : m_(m),
        n_(n),
        a_(a),
        lda_(lda),
        tau_(tau),
        order_(order),
        memory_((m + 2 * n) * kColumns + 2 * n) {
    v_ = memory_.get();
    f_ = v_ + m * kColumns;
    squares_ = f_ + n * kColumns;
    whole_ = squares_ + n;
    rows_ = whole_ + n;
  }

  void run() {
    for (int64_t j = 0; j < n_; ++j) order_[j] = j;
    measure(0);
    for (int64_t first = 0; first < n_;) first += factor_block(first);
  }

 private:
  T* at(int64_t i, int64_t j) const { return a_ + j * lda_ + i; }

  // The squared norms of the columns from `first` on, of the rows that are not yet factored.
  void measure(int64_t first) {
    for (int64_t j = first; j < n_; ++j) measure_column(first, j);
  }
  void measure_column(int64_t row, int64_t j) {
    FB_KERNEL(column_dots<T>)(m_ - row, 1, at(row, j), lda_, at(row, j), squares_ + j);
    whole_[j] = squares_[j];
  }

  // Columns i, which is about to be factored, and j; `count` columns of F are in use.
  void exchange(int64_t count, int64_t i, int64_t j) {
    if (i == j) return;
    std::swap_ranges(at(0, i), at(0, i) + m_, at(0, j));
    for (int64_t c = 0; c < count; ++c) {
      std::swap(f_[c * n_ + i], f_[c * n_ + j]);
      std::swap(rows_[c * n_ + i], rows_[c * n_ + j]);
    }
    std::swap(order_[i], order_[j]);
    squares_[j] = squares_[i];
    whole_[j] = whole_[i];
  }

  // Of each column behind k: its product with a reflector, and its element of row k, which the
  // thread that multiplies it has at hand.
  void meet_columns(int64_t k, const T* reflector, T* dots, T* row) {
    constexpr int64_t kAtOnce = 16;
    const int64_t rows = m_ - k;
    parallel_for(n_ - k - 1, kGrain / rows + 1, [&](int64_t begin, int64_t end) {
      for (int64_t j = k + 1 + begin; j < k + 1 + end; j += kAtOnce) {
        const int64_t last = std::min(j + kAtOnce, k + 1 + end);
        FB_KERNEL(column_dots<T>)(rows, last - j, at(k, j), lda_, reflector, dots + j);
        for (int64_t c = j; c < last; ++c) row[c] = *at(k, c);
      }
    });
  }

  // Factors columns from `first` on, until there are enough or a norm has become inexact; returns
  // how many. What they leave of the rest is A - V F^T.
  int64_t factor_block(int64_t first) {
    const int64_t most = std::min(kColumns, n_ - first);
    const int64_t rows = m_ - first;
    // A square that was reduced so much has lost half of its digits.
    const T limit = std::sqrt(std::numeric_limits<T>::epsilon());
    T factors[kColumns];
    int64_t count = 0;
    bool exact = true;
    while (count < most && exact) {
      const int64_t k = first + count;
      exchange(count, k, k + FB_KERNEL(first_largest<T>)(n_ - k, squares_ + k));
      T* const v = v_ + count * rows;
      std::fill(v, v + count, T(0));
      std::copy(at(k, k), at(m_, k), v + count);
      for (int64_t c = 0; c < count; ++c) factors[c] = -f_[c * n_ + k];
      add_scaled_columns(m_ - k, count, v_ + count, rows, factors, v + count);
      tau_[k] = FB_KERNEL(make_reflector<T>)(m_ - k, v + count);
      std::copy(v + count, v + rows, at(k, k));
      v[count] = 1;

      const int64_t right = n_ - k - 1;
      T* const f = f_ + count * n_;
      std::fill(f, f + k + 1, T(0));
      T* const row = rows_ + count * n_;
      meet_columns(k, v + count, f, row);
      dots_with_columns(m_ - k, count, v_ + count, rows, v + count, factors);
      for (int64_t c = 0; c < count; ++c) factors[c] = -factors[c];
      add_scaled_columns(right, count, f_ + k + 1, n_, factors, f + k + 1);
      for (int64_t j = k + 1; j < n_; ++j) f[j] *= tau_[k];

      // Row k is final, and what it holds leaves the columns' norms.
      for (int64_t c = 0; c <= count; ++c) factors[c] = -v_[c * rows + count];
      add_scaled_columns(right, count + 1, f_ + k + 1, n_, factors, row + k + 1);
      exact =
          !FB_KERNEL(take_squares<T>)(right, row + k + 1, limit, squares_ + k + 1, whole_ + k + 1);
      ++count;
    }
    update(first, count);
    for (int64_t j = first + 1; j < n_; ++j) {
      for (int64_t c = 0; c < std::min(count, j - first); ++c)
        *at(first + c, j) = rows_[c * n_ + j];
    }
    for (int64_t j = first + count; j < n_; ++j) {
      if (whole_[j] == 0) measure_column(first + count, j);
    }
    return count;
  }

  void update(int64_t first, int64_t count) {
    const int64_t next = first + count, rows = m_ - first, right = n_ - next;
    if (right == 0 || next == m_) return;
    for (int64_t i = 0; i < count * n_; ++i) f_[i] = -f_[i];
    const int64_t tile = right <= 1024 ? 32 : 128;
    for_each_tile(right, tile, rows * count * tile, [&](int64_t j, int64_t columns) {
      product<T>(m_ - next, columns, count, {v_ + count, rows}, {f_ + next + j, n_, true},
                 at(next, next + j), lda_, true);
    });
  }

  int64_t m_, n_;
  T* a_;
  int64_t lda_;
  T* tau_;
  int64_t* order_;
  Scratch<T> memory_;
  T *v_, *f_;
  // Of each column: its squared norm, and what that was when it was last summed.
  T *squares_, *whole_;
  // The rows of R that a block has found. They are stored when it ends: other threads read the
  // columns until then, and would have to fetch what has changed.
  T* rows_;
};

// B = Q^T B for few columns: by one reflector after the other.
template <class T>
void reflect(int64_t m, int64_t n, const T* a, int64_t lda, const T* tau, int64_t nrhs, T* b,
             int64_t ldb) {
  const Scratch<T> memory(nrhs);
  T* const sums = memory.get();
  for (int64_t i = 0; i < n; ++i) {
    const int64_t below = m - i - 1;
    const T* const v = a + i * lda + i + 1;
    FB_KERNEL(column_dots<T>)(below, nrhs, b + i + 1, ldb, v, sums);
    for (int64_t j = 0; j < nrhs; ++j) {
      T* const column = b + j * ldb + i;
      const T factor = -tau[i] * (column[0] + sums[j]);
      column[0] += factor;
      FB_KERNEL(add_columns<T>)(below, 1, v, lda, &factor, column + 1);
    }
  }
}

// Whether all of R counts: whether estimates of its largest and smallest singular value, which grow
// with its columns, stay within 1 / rcond of each other.
template <class T>
bool has_full_rank(int64_t n, const T* r, int64_t ldr, T rcond) {
  const Scratch<T> memory(2 * n);
  T *const low = memory.get(), *const high = low + n;
  T least = std::abs(r[0]), most = least;
  if (most == 0) return false;
  low[0] = high[0] = 1;
  for (int64_t i = 1; i < n; ++i) {
    const T* const column = r + i * ldr;
    const auto grown_low = lapack::laic1(false, i, low, least, column, column[i]);
    const auto grown_high = lapack::laic1(true, i, high, most, column, column[i]);
    if (!(grown_high.estimate * rcond <= grown_low.estimate)) return false;
    for (int64_t j = 0; j < i; ++j) {
      low[j] *= grown_low.sine;
      high[j] *= grown_high.sine;
    }
    low[i] = grown_low.cosine;
    high[i] = grown_high.cosine;
    least = grown_low.estimate;
    most = grown_high.estimate;
  }
  return true;
}

// For m >= n. False, with A and B as they were, if the rank is not full.
template <class T>
bool solve_full_rank(int64_t m, int64_t n, int64_t nrhs, const T* a, int64_t lda, T* b, int64_t ldb,
                     T rcond) {
  constexpr int64_t kFew = 16;
  const Scratch<T> memory(n + n * nrhs);
  T *const tau = memory.get(), *const x = tau + n;
  const std::unique_ptr<int64_t[]> order(new int64_t[n]);
  // A copy, whose columns are not a power of two apart.
  const Padded<T> copy(m, n, const_cast<T*>(a), lda, Copying::kAlways);
  T* const qr = copy->data;
  const int64_t ld = copy->ld;
  PivotedQr<T>(m, n, qr, ld, tau, order.get()).run();
  if (!has_full_rank(n, qr, ld, rcond)) return false;
  if (nrhs <= kFew)
    reflect(m, n, qr, ld, tau, nrhs, b, ldb);
  else
    multiply_q(true, true, m, nrhs, n, qr, ld, tau, b, ldb);
  lapack::trsm('L', 'U', 'N', 'N', n, nrhs, qr, ld, b, ldb);
  copy_matrix(n, nrhs, b, ldb, x, n);
  for (int64_t j = 0; j < nrhs; ++j) {
    for (int64_t i = 0; i < n; ++i) b[j * ldb + order[i]] = x[j * n + i];
  }
  return true;
}

}  // namespace

template <class T>
int64_t least_squares(int64_t m, int64_t n, int64_t nrhs, T* a, int64_t lda, T* b, int64_t ldb,
                      RealOf<T> rcond, int64_t* rank) {
  constexpr int64_t kSmall = 64;
  if constexpr (kShares<T>) {
    if (m >= n && n > kSmall && nrhs > 0 && has_safe_squares(m, n, a, lda) &&
        solve_full_rank(m, n, nrhs, a, lda, b, ldb, rcond)) {
      *rank = n;
      return 0;
    }
  }
  return lapack::gelsy(m, n, nrhs, a, lda, b, ldb, rcond, rank);
}

#define FB_INSTANTIATE(T)                                                                        \
  template int64_t least_squares(int64_t, int64_t, int64_t, T*, int64_t, T*, int64_t, RealOf<T>, \
                                 int64_t*);
FB_INSTANTIATE(float)
FB_INSTANTIATE(double)
FB_INSTANTIATE(Complex<float>)
FB_INSTANTIATE(Complex<double>)
#undef FB_INSTANTIATE

}  // namespace fb::cpu::factor
