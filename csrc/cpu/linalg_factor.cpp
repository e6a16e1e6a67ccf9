// LU, Cholesky and QR of batches of matrices.
#include <memory>
#include <utility>

#include "cpu/factor.h"
#include "cpu/lapack.h"
#include "cpu/linalg.h"

namespace fb::cpu {
namespace {

// P as the permutation of rows that successive exchanges with `pivots` give.
template <class T>
void permutation_matrix(const int32_t* pivots, int64_t count, int64_t m, T* out) {
  const std::unique_ptr<int64_t[]> order(new int64_t[m]);
  for (int64_t i = 0; i < m; ++i) order[i] = i;
  for (int64_t i = 0; i < count; ++i) std::swap(order[i], order[pivots[i] - 1]);
  std::fill(out, out + m * m, convert<T>(int64_t{0}));
  for (int64_t i = 0; i < m; ++i) out[order[i] * m + i] = convert<T>(int64_t{1});
}

}  // namespace

void lu_factor(const Matrices& a, int32_t* pivots, int32_t* info) {
  const int64_t m = a.rows, n = a.columns, k = a.smaller();
  visit_floating_or_complex(a.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(
        a.batch, m * n * k,
        [&](int64_t i) {
          info[i] = static_cast<int32_t>(
              factor::lu(m, n, matrix_at<T>(a, i), a.leading(), pivots + i * k));
        },
        factor::kShares<T>);
  });
}

void lu_unpack(DType dtype, int64_t batch, int64_t m, int64_t n, const void* lu, void* l, void* u) {
  const int64_t k = std::min(m, n);
  visit_all(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T zero = convert<T>(int64_t{0}), one = convert<T>(int64_t{1});
    for (int64_t b = 0; b < batch; ++b) {
      const T* from = static_cast<const T*>(lu) + b * m * n;
      for (int64_t i = 0; i < m; ++i) {
        T* row = static_cast<T*>(l) + (b * m + i) * k;
        for (int64_t j = 0; j < k; ++j)
          row[j] = j < i ? convert<T>(from[i * n + j]) : i == j ? one : zero;
      }
      for (int64_t i = 0; i < k; ++i) {
        T* row = static_cast<T*>(u) + (b * k + i) * n;
        for (int64_t j = 0; j < n; ++j) row[j] = j >= i ? convert<T>(from[i * n + j]) : zero;
      }
    }
  });
}

void pivots_to_permutation(DType dtype, int64_t batch, int64_t m, int64_t k, const int32_t* pivots,
                           void* p) {
  visit_all(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t b = 0; b < batch; ++b)
      permutation_matrix(pivots + b * k, k, m, static_cast<T*>(p) + b * m * m);
  });
}

void cholesky_factor(const Matrices& a, bool upper, int32_t* info) {
  const int64_t n = a.columns;
  visit_floating_or_complex(a.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(
        a.batch, n * n * n / 3,
        [&](int64_t i) {
          info[i] =
              static_cast<int32_t>(factor::cholesky(upper, n, matrix_at<T>(a, i), a.leading()));
        },
        factor::kShares<T>);
  });
}

void qr_factor(const Matrices& a, void* tau) {
  const int64_t m = a.rows, n = a.columns, k = a.smaller();
  visit_floating_or_complex(a.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(
        a.batch, m * n * k,
        [&](int64_t i) {
          factor::qr(m, n, matrix_at<T>(a, i), a.leading(), static_cast<T*>(tau) + i * k);
        },
        factor::kShares<T>);
  });
}

void qr_columns(const Matrices& packed, const void* tau, int64_t k, const Matrices& q) {
  const int64_t m = q.rows, columns = q.columns;
  visit_floating_or_complex(q.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(
        q.batch, m * columns * k,
        [&](int64_t i) {
          factor::form_q<T>(m, columns, k, matrix_at<T>(packed, i), packed.leading(),
                            static_cast<const T*>(tau) + i * k, matrix_at<T>(q, i), q.leading());
        },
        factor::kShares<T>);
  });
}

void qr_triangle(const Matrices& packed, const Matrices& r) {
  const int64_t m = packed.rows, n = r.columns, height = r.rows;
  visit_floating_or_complex(r.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(r.batch * n, std::max<int64_t>(kGrain / (height + 1), 1),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const T* from = matrix_at<T>(packed, i / n) + i % n * m;
                     T* const out = matrix_at<T>(r, i / n) + i % n * height;
                     const int64_t last = std::min(i % n + 1, height);
                     std::copy(from, from + last, out);
                     std::fill(out + last, out + height, T(0));
                   }
                 });
  });
}

void qr_multiply(const Matrices& packed, const void* tau, int64_t k, const Matrices& c, bool left,
                 bool adjoint) {
  const int64_t m = c.rows, n = c.columns;
  visit_floating_or_complex(c.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(
        c.batch, m * n * k,
        [&](int64_t i) {
          factor::multiply_q<T>(left, adjoint, m, n, k, matrix_at<T>(packed, i), packed.leading(),
                                static_cast<const T*>(tau) + i * k, matrix_at<T>(c, i),
                                c.leading());
        },
        factor::kShares<T>);
  });
}

}  // namespace fb::cpu
