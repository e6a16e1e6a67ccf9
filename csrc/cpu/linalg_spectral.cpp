// Eigenvalues and singular values of batches of matrices, by LAPACK.
#include "cpu/factor.h"
#include "cpu/lapack.h"
#include "cpu/linalg.h"

namespace fb::cpu {
namespace {

char job_of(SvdVectors vectors) {
  switch (vectors) {
    case SvdVectors::kNone: return 'N';
    case SvdVectors::kReduced: return 'S';
    case SvdVectors::kAll: return 'A';
  }
  __builtin_unreachable();
}

}  // namespace

void svd(const Matrices& a, SvdVectors vectors, void* s, const Matrices& u, const Matrices& vh,
         int32_t* info) {
  const int64_t m = a.rows, n = a.columns, k = a.smaller();
  const char jobz = job_of(vectors);
  visit_floating_or_complex(a.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto one = [&](int64_t i) {
      T* u_i = matrix_at<T>(u, i);
      T* vh_i = matrix_at<T>(vh, i);
      if (k == 0) {
        // LAPACK leaves the vectors of an empty matrix alone; any orthonormal basis will do.
        for (int64_t j = 0; j < m * u.columns; ++j) u_i[j] = T(j % (m + 1) == 0 ? 1 : 0);
        for (int64_t j = 0; j < vh.rows * n; ++j) vh_i[j] = T(j % (n + 1) == 0 ? 1 : 0);
        info[i] = 0;
        return;
      }
      info[i] = static_cast<int32_t>(factor::svd(jobz, m, n, matrix_at<T>(a, i), a.leading(),
                                                 static_cast<RealOf<T>*>(s) + i * k, u_i,
                                                 u.leading(), vh_i, vh.leading()));
    };
    const bool shares = factor::kShares<T> && vectors != SvdVectors::kNone;
    lapack::for_each_matrix(a.batch, 8 * m * n * k, one, shares);
  });
}

void eigen_hermitian(const Matrices& a, bool upper, bool with_vectors, void* values,
                     int32_t* info) {
  const int64_t n = a.columns;
  visit_floating_or_complex(a.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto one = [&](int64_t i) {
      T* const matrix = matrix_at<T>(a, i);
      RealOf<T>* const values_i = static_cast<RealOf<T>*>(values) + i * n;
      info[i] = static_cast<int32_t>(
          with_vectors ? factor::symmetric_eigen(upper, n, matrix, a.leading(), values_i)
                       : lapack::syevd('N', upper ? 'U' : 'L', n, matrix, a.leading(), values_i));
    };
    lapack::for_each_matrix(a.batch, 8 * n * n * n, one, with_vectors && factor::kShares<T>);
  });
}

void eigen_general(const Matrices& a, void* values, void* vectors, int32_t* info) {
  const int64_t n = a.columns;
  visit_floating_or_complex(a.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Complex<RealOf<T>>;
    lapack::for_each_matrix(a.batch, 16 * n * n * n, [&](int64_t i) {
      C* const columns = vectors ? static_cast<C*>(vectors) + i * n * n : nullptr;
      info[i] = static_cast<int32_t>(lapack::geev(n, matrix_at<T>(a, i), a.leading(),
                                                  static_cast<C*>(values) + i * n, columns));
    });
  });
}

}  // namespace fb::cpu
