// QR and products with Q: see factor.h.
#include <algorithm>
#include <vector>

#include "cpu/factor.h"
#include "cpu/factor_memory.h"
#include "cpu/lapack.h"

namespace fb::cpu::factor {
namespace {

// Reflectors that are applied at once.
constexpr int64_t kBlock = 32;
// Matrices of so many columns are factored, and multiplied by Q, without blocks.
constexpr int64_t kSmall = 32;

// Columns of C that a thread multiplies by Q at a time.
int64_t tile_of(int64_t columns) { return columns <= 1024 ? 32 : 128; }

// The unit lower part of packed reflectors.
template <class T>
void unpack(int64_t rows, int64_t count, const T* packed, int64_t ld, T* v) {
  for (int64_t j = 0; j < count; ++j) {
    T* column = v + j * rows;
    std::fill(column, column + j, T(0));
    column[j] = 1;
    std::copy(packed + j * ld + j + 1, packed + j * ld + rows, column + j + 1);
  }
}

// A block of reflectors: I - V T V^T. `v` has its columns side by side, `rows_of_v` its rows.
template <class T>
struct Block {
  int64_t rows, count;
  T *v, *rows_of_v;
  T *t, *t_transposed;  // both negated

  static int64_t size(int64_t rows, int64_t count) { return 2 * count * (rows + count); }
  Block(int64_t rows, int64_t count, T* memory)
      : rows(rows),
        count(count),
        v(memory),
        rows_of_v(v + rows * count),
        t(rows_of_v + rows * count),
        t_transposed(t + count * count) {}

  // From packed reflectors. Column i of T is -tau T(:, :i) V(:, :i)^T v, with tau below.
  void fill(const T* packed, int64_t ld, const T* tau) const {
    unpack(rows, count, packed, ld, v);
    transpose(rows, count, v, rows, rows_of_v, count);
    T dots[kBlock * kBlock];
    product<T>(count, count, rows, {rows_of_v, count}, {v, rows}, dots, count, false);
    for (int64_t i = 0; i < count; ++i) {
      T* column = t + i * count;
      std::fill(column, column + count, T(0));
      for (int64_t j = 0; j < i; ++j) {
        const T factor = -tau[i] * dots[i * count + j];
        for (int64_t r = 0; r <= j; ++r) column[r] += t[j * count + r] * factor;
      }
      column[i] = -tau[i];
    }
    transpose(count, count, t, count, t_transposed, count);
  }

  // C = this C, or its transpose times C. `work` has 2 count columns elements.
  void apply(bool transposed, int64_t columns, T* c, int64_t ldc, T* work) const {
    T *const first = work, *const second = work + count * columns;
    product<T>(count, columns, rows, {rows_of_v, count}, {c, ldc}, first, count, false);
    product<T>(count, columns, count, {transposed ? t_transposed : t, count}, {first, count},
               second, count, false);
    product<T>(rows, columns, count, {v, rows}, {second, count}, c, ldc, true);
  }
};

template <class T>
void real_qr(int64_t m, int64_t n, T* a, int64_t lda, T* tau) {
  const int64_t k = std::min(m, n);
  const Scratch<T> memory(padded_rows(m) + (n > kSmall ? Block<T>::size(m, kBlock) : 0));
  T* const work = memory.get();
  for (int64_t first = 0; first < k; first += kBlock) {
    const int64_t count = std::min(kBlock, k - first);
    const int64_t rows = m - first;
    T* const panel = a + first * lda + first;
    const Padded<T> part(rows, n <= kSmall ? n : count, panel, lda);
    FB_KERNEL(qr_panel<T>)(*part, tau + first, work);
    part.write_back();
    const int64_t rest = n - first - part->columns;
    if (rest <= 0) continue;
    const Block<T> block(rows, count, work + padded_rows(m));
    block.fill(panel, lda, tau + first);
    const int64_t tile = tile_of(rest);
    for_each_tile(rest, tile, 2 * rows * count * tile, [&](int64_t j, int64_t columns) {
      const Scratch<T> products(2 * count * columns);
      block.apply(true, columns, panel + (count + j) * lda, lda, products.get());
    });
  }
}

// Q of k packed reflectors of m rows.
template <class T>
class Reflectors {
 public:
  Reflectors(int64_t m, int64_t k, const T* packed, int64_t ld, const T* tau) : m_(m), k_(k) {
    int64_t size = 0;
    for (int64_t first = 0; first < k; first += kBlock)
      size += Block<T>::size(m - first, std::min(kBlock, k - first));
    memory_ = Scratch<T>(size);
    T* free = memory_.get();
    for (int64_t first = 0; first < k; first += kBlock) {
      const int64_t count = std::min(kBlock, k - first);
      blocks_.emplace_back(m - first, count, free);
      free += Block<T>::size(m - first, count);
    }
    for_each_tile(k, kBlock, m * kBlock * kBlock, [&](int64_t first, int64_t) {
      blocks_[first / kBlock].fill(packed + first * ld + first, ld, tau + first);
    });
  }

  // C = Q C or Q^T C, for C with m rows.
  void multiply(bool transposed, int64_t columns, T* c, int64_t ldc) const {
    const int64_t tile = tile_of(columns);
    for_each_tile(columns, tile, 2 * m_ * k_ * tile, [&](int64_t j, int64_t count) {
      apply(transposed, k_, count, c + j * ldc, ldc);
    });
  }

  // C = C Q or C Q^T, for C with m columns.
  void multiply_right(bool transposed, int64_t rows, T* c, int64_t ldc) const {
    const int64_t tile = tile_of(rows);
    for_each_tile(rows, tile, 2 * m_ * k_ * tile, [&](int64_t i, int64_t count) {
      const Scratch<T> turned(m_ * count);
      transpose(count, m_, c + i, ldc, turned.get(), m_);
      apply(!transposed, k_, count, turned.get(), m_);
      transpose(m_, count, turned.get(), m_, c + i, ldc);
    });
  }

  // The first columns of Q.
  void form(int64_t columns, T* q, int64_t ldq) const {
    const int64_t tile = tile_of(columns);
    for_each_tile(columns, tile, m_ * k_ * tile, [&](int64_t j, int64_t count) {
      for (int64_t c = j; c < j + count; ++c) {
        std::fill(q + c * ldq, q + c * ldq + m_, T(0));
        q[c * ldq + c] = 1;
      }
      // Reflectors of later columns only touch rows in which these are zero.
      apply(false, std::min(k_, j + count), count, q + j * ldq, ldq);
    });
  }

 private:
  // C = Q C or Q^T C by the blocks that hold the first `last` reflectors.
  void apply(bool transposed, int64_t last, int64_t columns, T* c, int64_t ldc) const {
    const Scratch<T> work(2 * kBlock * columns);
    const int64_t count = (last + kBlock - 1) / kBlock;
    for (int64_t i = 0; i < count; ++i) {
      const Block<T>& block = blocks_[transposed ? i : count - 1 - i];
      block.apply(transposed, columns, c + m_ - block.rows, ldc, work.get());
    }
  }

  int64_t m_, k_;
  std::vector<Block<T>> blocks_;
  Scratch<T> memory_;
};

template <class T>
void form_small(int64_t m, int64_t columns, int64_t k, const T* packed, int64_t ld, const T* tau,
                T* q, int64_t ldq) {
  const Padded<T> reflectors(m, k, const_cast<T*>(packed), ld);  // nothing is written to it
  for (int64_t j = 0; j < columns; ++j) {
    std::fill(q + j * ldq, q + j * ldq + m, T(0));
    q[j * ldq + j] = 1;
  }
  const Padded<T> x(m, columns, q, ldq);
  const Scratch<T> work(padded_rows(m));
  FB_KERNEL(multiply_by_q<T>)(reflectors.as_const(), tau, k, *x, work.get());
  x.write_back();
}

}  // namespace

template <class T>
void qr(int64_t m, int64_t n, T* a, int64_t lda, T* tau) {
  if constexpr (kIsComplex<T>)
    lapack::geqrf(m, n, a, lda, tau);
  else
    real_qr(m, n, a, lda, tau);
}

template <class T>
void form_q(int64_t m, int64_t columns, int64_t k, const T* packed, int64_t ld, const T* tau, T* q,
            int64_t ldq) {
  if constexpr (kIsComplex<T>) {
    copy_matrix(m, k, packed, ld, q, ldq);
    lapack::orgqr(m, columns, k, q, ldq, tau);
  } else if (columns > kSmall) {
    Reflectors<T>(m, k, packed, ld, tau).form(columns, q, ldq);
  } else {
    form_small(m, columns, k, packed, ld, tau, q, ldq);
  }
}

template <class T>
void multiply_q(bool left, bool adjoint, int64_t m, int64_t n, int64_t k, const T* packed,
                int64_t ld, const T* tau, T* c, int64_t ldc) {
  if constexpr (kIsComplex<T>) {
    lapack::ormqr(left ? 'L' : 'R', adjoint ? 'C' : 'N', m, n, k, packed, ld, tau, c, ldc);
  } else {
    const Reflectors<T> q(left ? m : n, k, packed, ld, tau);
    left ? q.multiply(adjoint, n, c, ldc) : q.multiply_right(adjoint, m, c, ldc);
  }
}

#define FB_INSTANTIATE(T)                                                                          \
  template void qr(int64_t, int64_t, T*, int64_t, T*);                                             \
  template void form_q(int64_t, int64_t, int64_t, const T*, int64_t, const T*, T*, int64_t);       \
  template void multiply_q(bool, bool, int64_t, int64_t, int64_t, const T*, int64_t, const T*, T*, \
                           int64_t);
FB_INSTANTIATE(float)
FB_INSTANTIATE(double)
FB_INSTANTIATE(Complex<float>)
FB_INSTANTIATE(Complex<double>)
#undef FB_INSTANTIATE

}  // namespace fb::cpu::factor
