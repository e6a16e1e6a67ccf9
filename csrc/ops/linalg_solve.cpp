// Linear systems, inverses, determinants and least squares.
#include <cmath>
#include <memory>

#include "gen/ops/complex.h"
#include "gen/ops/linalg.h"
#include "gen/ops/view.h"
#include "ops/linalg_support.h"
#include "ops/matrix.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

namespace lapack = cpu::lapack;

// The operands of a X = b with their batch dimensions broadcast against each other.
struct System {
  Tensor a;
  Tensor b;
};

System broadcast_system(const Tensor& a, const Tensor& b) {
  const Dims batch = broadcast_shapes(batch_of(a), batch_of(b));
  return {expand(a, with_sizes(batch, {a.size(-2), a.size(-1)})),
          expand(b, with_sizes(batch, {b.size(-2), b.size(-1)}))};
}

// Whether b is a batch of vectors rather than of matrices, by PyTorch's rule.
bool is_vector_side(const Tensor& a, const Tensor& b) {
  return b.dim() == 1 || (b.dim() == a.dim() - 1 && b.sizes() == a.sizes().first(a.dim() - 1));
}

Tensor without_last(const Tensor& t) {
  Dims sizes = t.sizes().vec();
  Dims strides = t.strides().vec();
  sizes.pop_back();
  strides.pop_back();
  return as_view(t, sizes, strides);
}

void check_system(const Tensor& a, const Tensor& b, bool left) {
  check_same_dtype(a, b);
  FB_CHECK(a.size(-1) == b.size(left ? -2 : -1), "shapes ", a.sizes(), " and ", b.sizes(),
           left ? " do not fit the equation A X = B" : " do not fit the equation X A = B");
}

struct Solved {
  Tensor x;
  Tensor lu;
  Tensor pivots;
  Tensor info;
};

Solved solve_left(const Tensor& given_a, const Tensor& given_b) {
  const System system = broadcast_system(given_a, given_b);
  const Tensor lu = column_major_copy(system.a);
  const Tensor x = column_major_copy(system.b);
  const int64_t n = lu.size(-1);
  const int64_t nrhs = x.size(-1);
  const Tensor pivots = make_tensor(with_sizes(batch_of(x), {n}), DType::kInt32, x.device());
  const Tensor info = make_tensor(batch_of(x), DType::kInt32, x.device());
  visit_floating_or_complex(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(batch_count(x), n * n * (n + nrhs), [&](int64_t i) {
      const std::unique_ptr<int64_t[]> rows(new int64_t[n]);
      T* a = lu.data_as<T>() + i * n * n;
      const int64_t failed = lapack::getrf(n, n, a, leading(n), rows.get());
      if (failed == 0) {
        lapack::getrs('N', n, nrhs, a, leading(n), rows.get(), x.data_as<T>() + i * n * nrhs,
                      leading(n));
      }
      std::copy(rows.get(), rows.get() + n, pivots.data_as<int32_t>() + i * n);
      info.data_as<int32_t>()[i] = static_cast<int32_t>(failed);
    });
  });
  return {x, lu, pivots, info};
}

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
T determinant(const T* lu, const int32_t* pivots, int64_t n) {
  T product(1);
  for (int64_t i = 0; i < n; ++i) {
    product = product * lu[i * n + i];
    if (pivots[i] != i + 1) product = -product;
  }
  return product;
}

constexpr const char* kSingular = " is zero: the matrix is singular";

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> compute::_linalg_solve_ex(const Tensor& A,
                                                                     const Tensor& B, bool left,
                                                                     bool check_errors) {
  check_square(A);
  check_lapack_dtype(A);
  const bool vector = is_vector_side(A, B);
  FB_CHECK(left || !vector, "left=False needs B to be a matrix, got shape ", B.sizes());
  const Tensor b = vector ? ops::unsqueeze(B, -1) : B;
  check_matrices(b);
  check_system(A, b, left);
  auto [x, lu, pivots, info] = left ? solve_left(A, b) : solve_left(turned_over(A), turned_over(b));
  if (!left) x = turned_over(x);
  // PyTorch lays a batch of vectors out as if it were one more matrix.
  if (vector && x.dim() > 2)
    x = column_major_copy(without_last(x));
  else if (vector)
    x = without_last(x);
  if (check_errors) check_info(info, "the diagonal element ", kSingular);
  return {x, lu, pivots, info};
}

std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B, bool left,
                                           bool check_errors) {
  const auto [x, lu, pivots, info] = _linalg_solve_ex(A, B, left, check_errors);
  return {x, info};
}

Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  return std::get<0>(_linalg_solve_ex(A, B, left, true));
}

std::tuple<Tensor, Tensor> compute::linalg_inv_ex(const Tensor& A, bool check_errors) {
  check_square(A);
  check_lapack_dtype(A);
  const int64_t n = A.size(-1);
  const Tensor inverse = column_major_copy(A);
  const Tensor info = make_tensor(batch_of(A), DType::kInt32, A.device());
  visit_floating_or_complex(A.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(batch_count(A), 2 * n * n * n, [&](int64_t i) {
      const std::unique_ptr<int64_t[]> pivots(new int64_t[n]);
      T* a = inverse.data_as<T>() + i * n * n;
      int64_t failed = lapack::getrf(n, n, a, leading(n), pivots.get());
      if (failed == 0) failed = lapack::getri(n, a, leading(n), pivots.get());
      info.data_as<int32_t>()[i] = static_cast<int32_t>(failed);
    });
  });
  if (check_errors) check_info(info, "the diagonal element ", kSingular);
  return {inverse, info};
}

Tensor linalg_inv(const Tensor& A) { return std::get<0>(linalg_inv_ex(A, true)); }

Tensor compute::linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left,
                                bool adjoint) {
  check_square(LU);
  check_lapack_dtype(LU);
  FB_CHECK(pivots.dtype() == DType::kInt32, "expected pivots of dtype int32, got ", pivots.dtype());
  check_matrices(B);
  check_system(LU, B, left);
  if (!left) {
    // X A = B is A^H X^H = B^H.
    const Tensor turned = linalg_lu_solve(LU, pivots, conj(turned_over(B)), true, !adjoint);
    return conj(turned_over(turned));
  }
  const System system = broadcast_system(LU, B);
  const Tensor lu = column_major_copy(system.a);
  const Tensor x = column_major_copy(system.b);
  const Tensor rows = contiguous(expand(pivots, lu.sizes().first(lu.dim() - 1)));
  const int64_t n = lu.size(-1);
  const int64_t nrhs = x.size(-1);
  visit_floating_or_complex(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const char trans = adjoint ? (kIsComplex<T> ? 'C' : 'T') : 'N';
    const int32_t* given = rows.data_as<int32_t>();
    check_pivots(rows, rows.numel(), n);
    lapack::for_each_matrix(batch_count(x), n * n * nrhs, [&](int64_t i) {
      const std::unique_ptr<int64_t[]> wide(new int64_t[n]);
      std::copy(given + i * n, given + (i + 1) * n, wide.get());
      lapack::getrs(trans, n, nrhs, lu.data_as<T>() + i * n * n, leading(n), wide.get(),
                    x.data_as<T>() + i * n * nrhs, leading(n));
    });
  });
  return x;
}

Tensor lu_solve(const Tensor& b, const Tensor& LU_data, const Tensor& LU_pivots) {
  return linalg_lu_solve(LU_data, LU_pivots, b, true, false);
}

Tensor compute::linalg_solve_triangular(const Tensor& input, const Tensor& B, bool upper, bool left,
                                        bool unitriangular) {
  check_square(input);
  check_lapack_dtype(input);
  check_matrices(B);
  check_system(input, B, left);
  const System system = broadcast_system(input, B);
  const Tensor a = column_major_copy(system.a);
  const Tensor x = column_major_copy(system.b);
  const int64_t n = a.size(-1);
  const int64_t rows = x.size(-2);
  const int64_t columns = x.size(-1);
  visit_floating_or_complex(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(batch_count(x), n * rows * columns, [&](int64_t i) {
      lapack::trsm(left ? 'L' : 'R', upper ? 'U' : 'L', 'N', unitriangular ? 'U' : 'N', rows,
                   columns, a.data_as<T>() + i * n * n, leading(n),
                   x.data_as<T>() + i * rows * columns, leading(rows));
    });
  });
  return x;
}

std::tuple<Tensor, Tensor> compute::triangular_solve(const Tensor& b, const Tensor& A, bool upper,
                                                     bool transpose, bool unitriangular) {
  check_square(A);
  const Tensor a = transpose ? turned_over(A) : A;
  return {linalg_solve_triangular(a, b, upper != transpose, true, unitriangular),
          column_major_copy(A)};
}

Tensor compute::cholesky_solve(const Tensor& input, const Tensor& L, bool upper) {
  check_square(L);
  check_lapack_dtype(L);
  check_matrices(input);
  check_system(L, input, true);
  const System system = broadcast_system(L, input);
  const Tensor factor = column_major_copy(system.a);
  const Tensor x = column_major_copy(system.b);
  const int64_t n = factor.size(-1);
  const int64_t nrhs = x.size(-1);
  visit_floating_or_complex(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(batch_count(x), 2 * n * n * nrhs, [&](int64_t i) {
      lapack::potrs(upper ? 'U' : 'L', n, nrhs, factor.data_as<T>() + i * n * n, leading(n),
                    x.data_as<T>() + i * n * nrhs, leading(n));
    });
  });
  return x;
}

Tensor compute::cholesky_inverse(const Tensor& L, bool upper) {
  check_square(L);
  check_lapack_dtype(L);
  const int64_t n = L.size(-1);
  const Tensor inverse = column_major_copy(L);
  const Tensor info = make_tensor(batch_of(L), DType::kInt32, L.device());
  visit_floating_or_complex(L.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(batch_count(L), n * n * n, [&](int64_t i) {
      T* a = inverse.data_as<T>() + i * n * n;
      info.data_as<int32_t>()[i] =
          static_cast<int32_t>(lapack::potri(upper ? 'U' : 'L', n, a, leading(n)));
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
  check_info(info, "the diagonal element ", kSingular);
  return inverse;
}

Tensor compute::linalg_det(const Tensor& A) {
  check_square(A);
  const auto [lu, pivots, info] = linalg_lu_factor_ex(A, true, false);
  const Tensor out = make_tensor(batch_of(A), A.dtype(), A.device());
  const int64_t n = A.size(-1);
  visit_floating_or_complex(A.dtype(), [&, lu = lu, pivots = pivots](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < out.numel(); ++i) {
      out.data_as<T>()[i] =
          determinant(lu.data_as<T>() + i * n * n, pivots.data_as<int32_t>() + i * n, n);
    }
  });
  return out;
}

std::tuple<Tensor, Tensor> compute::linalg_slogdet(const Tensor& A) {
  check_square(A);
  const auto [lu, pivots, info] = linalg_lu_factor_ex(A, true, false);
  const Tensor sign = make_tensor(batch_of(A), A.dtype(), A.device());
  const Tensor log = make_tensor(batch_of(A), real_type(A.dtype()), A.device());
  const int64_t n = A.size(-1);
  visit_floating_or_complex(A.dtype(), [&, lu = lu, pivots = pivots](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < sign.numel(); ++i) {
      sign_and_log(lu.data_as<T>() + i * n * n, pivots.data_as<int32_t>() + i * n, n,
                   sign.data_as<T>() + i, log.data_as<RealOf<T>>() + i);
    }
  });
  return {sign, log};
}

}  // namespace fb::ops
