// LU and what follows from it: see factor.h.
#include <memory>
#include <optional>
#include <utility>

#include "cpu/factor.h"
#include "cpu/factor_memory.h"
#include "cpu/lapack.h"

namespace fb::cpu::factor {
namespace {

// The columns that a kernel factors at once, and those of panels too tall for the cache; those of a
// matrix that is a single panel; and those of a panel of a large matrix, which is factored by
// blocks itself.
constexpr int64_t kLeaf = 32;
constexpr int64_t kThin = 8;
constexpr int64_t kTall = 8192;
constexpr int64_t kSmall = 64;
constexpr int64_t kWide = 128;
constexpr int64_t kLarge = 1024;

template <class T>
void exchange_rows(const int32_t* pivots, int64_t count, int64_t columns, T* a, int64_t lda) {
  for (int64_t j = 0; j < columns; ++j) {
    T* column = a + j * lda;
    for (int64_t i = 0; i < count; ++i) std::swap(column[i], column[pivots[i] - 1]);
  }
}

// LU by blocks of so many columns: a panel is factored, then everything to the right of it is
// brought up to date by tiles of columns.
template <class T>
int64_t lu_by_blocks(int64_t m, int64_t n, T* a, int64_t lda, int32_t* pivots, int64_t block) {
  const int64_t diagonal = std::min(m, n);
  int64_t info = 0;
  for (int64_t k = 0; k < diagonal; k += block) {
    const int64_t width = std::min(block, diagonal - k);
    const int64_t height = m - k;
    T* const panel = a + k * lda + k;
    int32_t* const rows = pivots + k;
    int64_t failed;
    std::optional<Padded<T>> leaf;
    const bool is_small = width == diagonal && width <= kSmall && height <= 4 * kSmall;
    if (is_small || width <= (height <= kTall ? kLeaf : kThin)) {
      leaf.emplace(height, width, panel, lda, is_small ? Copying::kInPlace : Copying::kAlways);
      failed = FB_KERNEL(lu_panel<T>)(**leaf, rows);
      leaf->write_back();
    } else {
      failed = lu_by_blocks(height, width, panel, lda, rows, width > kLeaf ? kLeaf : kThin);
    }
    if (failed != 0 && info == 0) info = k + failed;

    const Padded<T> corner(width, width, panel, lda);
    const Operand<T> l =
        leaf ? Operand<T>{(*leaf)->data + width, (*leaf)->ld} : Operand<T>{panel + width, lda};
    const int64_t tile = n <= kLarge ? 32 : 64;
    const int64_t below = height - width;
    for_each_tile(n - k - width, tile, tile * height * width, [&](int64_t j, int64_t columns) {
      T* const to = panel + (width + j) * lda;
      exchange_rows(rows, width, columns, to, lda);
      const Padded<T> u(width, columns, to, lda, Copying::kAlways);  // to be negated
      FB_KERNEL(solve_unit_lower<T>)(corner.as_const(), *u);
      u.write_back();
      if (below == 0) return;
      for (int64_t i = 0; i < u->ld * columns; ++i) u->data[i] = -u->data[i];
      product<T>(below, columns, width, l, {u->data, u->ld}, to + width, lda, true);
    });
    for_each_tile(k, 64, 64 * width, [&](int64_t j, int64_t columns) {
      exchange_rows(rows, width, columns, a + j * lda + k, lda);
    });
    for (int64_t i = 0; i < width; ++i) rows[i] += static_cast<int32_t>(k);
  }
  return info;
}

template <class T>
int64_t real_lu(int64_t m, int64_t n, T* a, int64_t lda, int32_t* pivots) {
  const int64_t diagonal = std::min(m, n);
  const int64_t block = diagonal <= kSmall ? kSmall : diagonal <= kLarge ? kLeaf : kWide;
  return lu_by_blocks(m, n, a, lda, pivots, block);
}

// X = U^-1 L^-1 X by blocks of rows.
template <class T>
void solve_tile(int64_t n, const T* lu, int64_t lda, int64_t columns, T* x, int64_t ldx) {
  const auto block = [&](int64_t k, int64_t first, int64_t rows, auto solve) {
    const int64_t width = std::min(kLeaf, n - k);
    T* const diagonal = const_cast<T*>(lu) + k * lda + k;  // nothing is written to it
    const Padded<T> corner(width, width, diagonal, lda);
    const Padded<T> part(width, columns, x + k, ldx, Copying::kAlways);  // to be negated
    solve(corner.as_const(), *part);
    part.write_back();
    for (int64_t i = 0; i < part->ld * columns; ++i) part->data[i] = -part->data[i];
    product<T>(rows, columns, width, {lu + k * lda + first, lda}, {part->data, part->ld}, x + first,
               ldx, true);
  };
  for (int64_t k = 0; k < n; k += kLeaf) {
    const int64_t next = std::min(k + kLeaf, n);
    block(k, next, n - next, FB_KERNEL(solve_unit_lower<T>));
  }
  for (int64_t k = (n - 1) / kLeaf * kLeaf; k >= 0; k -= kLeaf)
    block(k, 0, k, FB_KERNEL(solve_upper<T>));
}

template <class T>
void solve_small(const Panel<const T>& lu, const int32_t* pivots, int64_t nrhs, T* b, int64_t ldb) {
  const int64_t n = lu.rows;
  exchange_rows(pivots, n, nrhs, b, ldb);
  const Padded<T> x(n, nrhs, b, ldb);
  FB_KERNEL(solve_unit_lower<T>)(lu, *x);
  FB_KERNEL(solve_upper<T>)(lu, *x);
  x.write_back();
}

}  // namespace

template <class T>
int64_t lu(int64_t m, int64_t n, T* a, int64_t lda, int32_t* pivots) {
  const int64_t diagonal = std::min(m, n);
  if constexpr (kIsComplex<T>) {
    const std::unique_ptr<int64_t[]> wide(new int64_t[diagonal]);
    const int64_t info = lapack::getrf(m, n, a, lda, wide.get());
    std::copy(wide.get(), wide.get() + diagonal, pivots);
    return info;
  } else {
    return real_lu(m, n, a, lda, pivots);
  }
}

template <class T>
void lu_solve(char op, int64_t n, int64_t nrhs, const T* lu, int64_t lda, const int32_t* pivots,
              T* b, int64_t ldb) {
  if constexpr (kShares<T>) {
    if (n <= kSmall && op == 'N') {
      const Padded<T> factors(n, n, const_cast<T*>(lu), lda);  // nothing is written to it
      return solve_small(factors.as_const(), pivots, nrhs, b, ldb);
    }
    if (n <= kLarge && op == 'N') {
      return for_each_tile(nrhs, 32, n * n * 32, [&](int64_t j, int64_t columns) {
        exchange_rows(pivots, n, columns, b + j * ldb, ldb);
        solve_tile(n, lu, lda, columns, b + j * ldb, ldb);
      });
    }
  }
  const std::unique_ptr<int64_t[]> wide(new int64_t[n]);
  std::copy(pivots, pivots + n, wide.get());
  for_each_tile(nrhs, 64, n * n * 64, [&](int64_t j, int64_t columns) {
    lapack::getrs(op, n, columns, lu, lda, wide.get(), b + j * ldb, ldb);
  });
}

template <class T>
int64_t invert(int64_t n, T* a, int64_t lda) {
  const std::unique_ptr<int32_t[]> pivots(new int32_t[n]);
  const int64_t info = lu(n, n, a, lda, pivots.get());
  if (info != 0) return info;
  // The solution for the columns of the identity.
  const Scratch<T> inverse(n * n);
  T* const x = inverse.get();
  std::fill(x, x + n * n, T(0));
  for (int64_t i = 0; i < n; ++i) x[i * n + i] = 1;
  lu_solve('N', n, n, a, lda, pivots.get(), x, n);
  copy_matrix(n, n, x, n, a, lda);
  return 0;
}

#define FB_INSTANTIATE(T)                                                                         \
  template int64_t lu(int64_t, int64_t, T*, int64_t, int32_t*);                                   \
  template void lu_solve(char, int64_t, int64_t, const T*, int64_t, const int32_t*, T*, int64_t); \
  template int64_t invert(int64_t, T*, int64_t);
FB_INSTANTIATE(float)
FB_INSTANTIATE(double)
FB_INSTANTIATE(Complex<float>)
FB_INSTANTIATE(Complex<double>)
#undef FB_INSTANTIATE

}  // namespace fb::cpu::factor
