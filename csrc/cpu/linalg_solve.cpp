// Linear systems, inverses, determinants and least squares of batches of matrices, by factor.h and
// LAPACK.
#include <cmath>
#include <memory>

#include "cpu/factor.h"
#include "cpu/lapack.h"
#include "cpu/linalg.h"

namespace fb::cpu {
namespace {

// The sign (or phase) of the determinant and the logarithm of its size, for one factored matrix.
template <class T>
void sign_and_log(const T* lu, const int32_t* pivots, int64_t n, T* sign, RealOf<T>* log) {
  using Real = RealOf<T>;
  T phase(1);
  Real sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T u = lu[i * n + i];
    Real size;
    if constexpr (kIsComplex<T>) {
      size = std::hypot(u.re, u.im);
      phase = size == 0 ? T(0) : phase * T(u.re / size, u.im / size);
    } else {
      size = std::abs(u);
      phase = u > 0 ? phase : u < 0 ? -phase : u;
    }
    if (pivots[i] != i + 1) phase = -phase;
    sum += std::log(size);
  }
  *sign = phase;
  *log = sum;
}

template <class T>
T product_of_diagonal(const T* lu, const int32_t* pivots, int64_t n) {
  T product(1);
  for (int64_t i = 0; i < n; ++i) {
    product = product * lu[i * n + i];
    if (pivots[i] != i + 1) product = -product;
  }
  return product;
}

template <class T>
int64_t least_squares_one(const LeastSquares& plan, int64_t i, RealOf<T> limit) {
  const Matrices &a = plan.a, &x = plan.x;
  const int64_t m = a.rows, n = a.columns, nrhs = x.columns, lda = a.leading(), ldx = x.leading();
  T* const a_i = matrix_at<T>(a, i);
  T* const x_i = matrix_at<T>(x, i);
  int64_t* const rank = plan.rank ? plan.rank + i : nullptr;
  RealOf<T>* const s =
      plan.values ? static_cast<RealOf<T>*>(plan.values) + i * a.smaller() : nullptr;
  if (m == 0 || n == 0) {
    if (rank) *rank = 0;
    return 0;
  }
  switch (plan.driver) {
    case LeastSquaresDriver::kGels: return lapack::gels(m, n, nrhs, a_i, lda, x_i, ldx);
    case LeastSquaresDriver::kGelsy:
      return factor::least_squares(m, n, nrhs, a_i, lda, x_i, ldx, limit, rank);
    case LeastSquaresDriver::kGelsd:
      return lapack::gelsd(m, n, nrhs, a_i, lda, x_i, ldx, s, limit, rank);
    case LeastSquaresDriver::kGelss:
      return lapack::gelss(m, n, nrhs, a_i, lda, x_i, ldx, s, limit, rank);
  }
  __builtin_unreachable();
}

}  // namespace

void lu_factor_solve(const Matrices& a, int32_t* pivots, const Matrices& x, int32_t* info) {
  const int64_t n = a.columns, nrhs = x.columns;
  visit_floating_or_complex(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto one = [&](int64_t i) {
      T* const matrix = matrix_at<T>(a, i);
      int32_t* const rows = pivots + i * n;
      info[i] = static_cast<int32_t>(factor::lu(n, n, matrix, a.leading(), rows));
      if (info[i] != 0) return;
      factor::lu_solve<T>('N', n, nrhs, matrix, a.leading(), rows, matrix_at<T>(x, i), x.leading());
    };
    lapack::for_each_matrix(x.batch, n * n * (n + nrhs), one, factor::kShares<T>);
  });
}

void lu_solve(const Matrices& lu, const int32_t* pivots, const Matrices& x, bool adjoint) {
  const int64_t n = lu.columns, nrhs = x.columns;
  visit_floating_or_complex(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const char trans = adjoint ? (kIsComplex<T> ? 'C' : 'T') : 'N';
    lapack::for_each_matrix(
        x.batch, n * n * nrhs,
        [&](int64_t i) {
          factor::lu_solve<T>(trans, n, nrhs, matrix_at<T>(lu, i), lu.leading(), pivots + i * n,
                              matrix_at<T>(x, i), x.leading());
        },
        factor::kShares<T>);
  });
}

void invert(const Matrices& a, int32_t* info) {
  const int64_t n = a.columns;
  visit_floating_or_complex(a.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(
        a.batch, 2 * n * n * n,
        [&](int64_t i) {
          info[i] = static_cast<int32_t>(factor::invert(n, matrix_at<T>(a, i), a.leading()));
        },
        factor::kShares<T>);
  });
}

void determinant(const Matrices& lu, const int32_t* pivots, void* out) {
  const int64_t n = lu.columns;
  visit_floating_or_complex(lu.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(lu.batch, 8 * n, [&](int64_t i) {
      static_cast<T*>(out)[i] = product_of_diagonal(matrix_at<T>(lu, i), pivots + i * n, n);
    });
  });
}

void log_determinant(const Matrices& lu, const int32_t* pivots, void* sign, void* log) {
  const int64_t n = lu.columns;
  visit_floating_or_complex(lu.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(lu.batch, 16 * n, [&](int64_t i) {
      sign_and_log(matrix_at<T>(lu, i), pivots + i * n, n, static_cast<T*>(sign) + i,
                   static_cast<RealOf<T>*>(log) + i);
    });
  });
}

void cholesky_solve(const Matrices& factor, bool upper, const Matrices& x) {
  const int64_t n = factor.columns, nrhs = x.columns;
  visit_floating_or_complex(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(x.batch, 2 * n * n * nrhs, [&](int64_t i) {
      lapack::potrs(upper ? 'U' : 'L', n, nrhs, matrix_at<T>(factor, i), factor.leading(),
                    matrix_at<T>(x, i), x.leading());
    });
  });
}

void cholesky_invert(const Matrices& factor, bool upper, int32_t* info) {
  const int64_t n = factor.columns;
  visit_floating_or_complex(factor.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(factor.batch, n * n * n, [&](int64_t i) {
      T* a = matrix_at<T>(factor, i);
      info[i] = static_cast<int32_t>(lapack::potri(upper ? 'U' : 'L', n, a, factor.leading()));
      // potri fills one triangle; the other is its mirror image.
      for (int64_t c = 0; c < n; ++c) {
        for (int64_t r = 0; r < c; ++r) {
          T& above = a[c * n + r];
          T& below = a[r * n + c];
          T& missing = upper ? below : above;
          missing = upper ? above : below;
          if constexpr (kIsComplex<T>) missing.im = -missing.im;
        }
      }
    });
  });
}

void solve_triangular(const Matrices& a, const Matrices& x, const TriangularSystem& system) {
  visit_floating_or_complex(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(x.batch, a.columns * x.rows * x.columns, [&](int64_t i) {
      lapack::trsm(system.left ? 'L' : 'R', system.upper ? 'U' : 'L', 'N', system.unit ? 'U' : 'N',
                   x.rows, x.columns, matrix_at<T>(a, i), a.leading(), matrix_at<T>(x, i),
                   x.leading());
    });
  });
}

void least_squares(const LeastSquares& plan) {
  const Matrices& a = plan.a;
  visit_floating_or_complex(a.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto limit = static_cast<RealOf<T>>(plan.rcond);
    lapack::for_each_matrix(
        a.batch, a.rows * a.columns * a.smaller(),
        [&](int64_t i) {
          plan.info[i] = static_cast<int32_t>(least_squares_one<T>(plan, i, limit));
        },
        factor::kShares<T> && plan.driver == LeastSquaresDriver::kGelsy);
  });
}

void sum_squares_below(const Matrices& x, int64_t first, void* sums) {
  visit_floating_or_complex(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Real = RealOf<T>;
    const T* column = static_cast<const T*>(x.data);
    for (int64_t j = 0; j < x.batch * x.columns; ++j, column += x.rows) {
      Real sum = 0;
      for (int64_t i = first; i < x.rows; ++i) {
        const T value = column[i];
        if constexpr (kIsComplex<T>)
          sum += value.re * value.re + value.im * value.im;
        else
          sum += value * value;
      }
      static_cast<Real*>(sums)[j] = sum;
    }
  });
}

}  // namespace fb::cpu
