// Cholesky: see factor.h.
#include <algorithm>

#include "cpu/factor.h"
#include "cpu/factor_memory.h"
#include "cpu/lapack.h"

namespace fb::cpu::factor {
namespace {

constexpr int64_t kSmall = 64;
constexpr int64_t kLarge = 1024;

template <class T>
void zero_above(int64_t n, T* a, int64_t lda) {
  for (int64_t j = 1; j < n; ++j) std::fill(a + j * lda, a + j * lda + j, T(0));
}

template <class T>
void zero_below(int64_t n, T* a, int64_t lda) {
  for (int64_t j = 0; j < n; ++j) std::fill(a + j * lda + j + 1, a + j * lda + n, T(0));
}

// Blocks of columns: the corner, the rows below it by tiles, and then, by tiles of columns, the
// lower triangle of what remains. Tiles on the diagonal are computed whole.
template <class T>
int64_t lower(int64_t n, T* a, int64_t lda) {
  const int64_t block = n <= kSmall ? kSmall : n <= kLarge ? 32 : kSmall;
  const Scratch<T> memory(n > block ? n * block : 0);
  T* const negative = memory.get();
  for (int64_t k = 0; k < n; k += block) {
    const int64_t width = std::min(block, n - k);
    T* const corner = a + k * lda + k;
    const Padded<T> head(width, width, corner, lda);
    const int64_t failed = FB_KERNEL(cholesky_panel<T>)(*head);
    head.write_back();
    if (failed != 0) return k + failed;
    const int64_t rest = n - k - width;
    T* const below = corner + width;
    constexpr int64_t kRows = 64;
    for_each_tile(rest, kRows, kRows * width * width, [&](int64_t i, int64_t rows) {
      const Padded<T> part(rows, width, below + i, lda);
      FB_KERNEL(solve_right_transposed<T>)(head.as_const(), *part);
      part.write_back();
      for (int64_t j = 0; j < width; ++j) {
        for (int64_t r = 0; r < rows; ++r) negative[j * rest + i + r] = -part->column(j)[r];
      }
    });
    const int64_t tile = n <= kLarge ? 32 : 64;
    for_each_tile(rest, tile, tile * rest * width / 2, [&](int64_t j, int64_t columns) {
      product<T>(rest - j, columns, width, {negative + j, rest}, {below + j, lda, true},
                 below + (width + j) * lda + j, lda, true);
    });
  }
  return 0;
}

// U is the transpose of the other triangle's L.
template <class T>
int64_t by_transpose(int64_t n, T* a, int64_t lda) {
  const Scratch<T> memory(n * n);
  T* const turned = memory.get();
  transpose(n, n, a, lda, turned, n);
  const int64_t info = lower(n, turned, n);
  zero_above(n, turned, n);
  transpose(n, n, turned, n, a, lda);
  return info;
}

}  // namespace

template <class T>
int64_t cholesky(bool upper, int64_t n, T* a, int64_t lda) {
  if constexpr (kIsComplex<T>) {
    const int64_t info = lapack::potrf(upper ? 'U' : 'L', n, a, lda);
    upper ? zero_below(n, a, lda) : zero_above(n, a, lda);
    return info;
  } else if (!upper) {
    const int64_t info = lower(n, a, lda);
    zero_above(n, a, lda);
    return info;
  } else {
    return by_transpose(n, a, lda);
  }
}

template int64_t cholesky(bool, int64_t, float*, int64_t);
template int64_t cholesky(bool, int64_t, double*, int64_t);
template int64_t cholesky(bool, int64_t, Complex<float>*, int64_t);
template int64_t cholesky(bool, int64_t, Complex<double>*, int64_t);

}  // namespace fb::cpu::factor
