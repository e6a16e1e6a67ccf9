// Eigenvalues and singular values.
#include <limits>

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/complex.h"
#include "gen/ops/create.h"
#include "gen/ops/linalg.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view.h"
#include "ops/linalg_support.h"
#include "ops/matrix.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

namespace lapack = cpu::lapack;

constexpr const char* kNotFinite =
    "the algorithm failed to converge because the input contains infinities or NaNs";
constexpr const char* kNoConvergence =
    "the algorithm failed to converge: the matrix is ill-conditioned or has too many repeated "
    "values (code ";

// jobz as gesdd takes it: 'A', 'S' or 'N'.
std::tuple<Tensor, Tensor, Tensor> decompose(const Tensor& A, char jobz) {
  check_matrices(A);
  check_lapack_dtype(A);
  check_finite(A, ErrorKind::kLinAlg, kNotFinite);
  const int64_t m = A.size(-2);
  const int64_t n = A.size(-1);
  const int64_t k = std::min(m, n);
  const int64_t u_columns = jobz == 'A' ? m : jobz == 'S' ? k : 0;
  const int64_t v_rows = jobz == 'A' ? n : jobz == 'S' ? k : 0;
  const IntSpan batch = batch_of(A);
  const Tensor work = column_major_copy(A);
  const Tensor u = make_column_major(batch, m, u_columns, A.dtype(), A.device());
  const Tensor s = make_tensor(with_sizes(batch, {k}), real_type(A.dtype()), A.device());
  const Tensor vh = make_column_major(batch, v_rows, n, A.dtype(), A.device());
  const Tensor info = make_tensor(batch, DType::kInt32, A.device());
  visit_floating_or_complex(A.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(batch_count(A), 8 * m * n * k, [&](int64_t i) {
      T* u_i = u.data_as<T>() + i * m * u_columns;
      T* vh_i = vh.data_as<T>() + i * v_rows * n;
      if (k == 0) {
        // LAPACK leaves the vectors of an empty matrix alone; any orthonormal basis will do.
        for (int64_t j = 0; j < m * u_columns; ++j) u_i[j] = T(j % (m + 1) == 0 ? 1 : 0);
        for (int64_t j = 0; j < v_rows * n; ++j) vh_i[j] = T(j % (n + 1) == 0 ? 1 : 0);
        info.data_as<int32_t>()[i] = 0;
        return;
      }
      info.data_as<int32_t>()[i] = static_cast<int32_t>(
          lapack::gesdd(jobz, m, n, work.data_as<T>() + i * m * n, leading(m),
                        s.data_as<RealOf<T>>() + i * k, u_i, leading(m), vh_i, leading(v_rows)));
    });
  });
  check_info(info, kNoConvergence, ")");
  return {u, s, vh};
}

std::tuple<Tensor, Tensor> eigen_hermitian(const Tensor& A, const std::string& UPLO, char jobz) {
  check_square(A);
  check_lapack_dtype(A);
  FB_CHECK(UPLO == "L" || UPLO == "U" || UPLO == "l" || UPLO == "u",
           "expected UPLO to be 'L' or 'U', got '", UPLO, "'");
  const int64_t n = A.size(-1);
  const Tensor vectors = column_major_copy(A);
  const Tensor values = make_tensor(with_sizes(batch_of(A), {n}), real_type(A.dtype()), A.device());
  const Tensor info = make_tensor(batch_of(A), DType::kInt32, A.device());
  const char uplo = UPLO == "U" || UPLO == "u" ? 'U' : 'L';
  check_finite(A, ErrorKind::kLinAlg, kNotFinite);
  visit_floating_or_complex(A.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    lapack::for_each_matrix(batch_count(A), 8 * n * n * n, [&](int64_t i) {
      info.data_as<int32_t>()[i] =
          static_cast<int32_t>(lapack::syevd(jobz, uplo, n, vectors.data_as<T>() + i * n * n,
                                             leading(n), values.data_as<RealOf<T>>() + i * n));
    });
  });
  check_info(info, kNoConvergence, ")");
  return {values, vectors};
}

// `vectors` is left undefined unless they are wanted.
std::tuple<Tensor, Tensor> eigen_general(const Tensor& input, bool with_vectors) {
  check_square(input);
  check_lapack_dtype(input);
  const int64_t n = input.size(-1);
  const DType type = complex_type(input.dtype());
  const Tensor work = column_major_copy(input);
  const Tensor values = make_tensor(with_sizes(batch_of(input), {n}), type, input.device());
  const Tensor vectors =
      with_vectors ? make_column_major(batch_of(input), n, n, type, input.device()) : Tensor();
  const Tensor info = make_tensor(batch_of(input), DType::kInt32, input.device());
  check_finite(input, ErrorKind::kRuntime, "expected no infinities or NaNs in input");
  visit_floating_or_complex(input.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Complex<RealOf<T>>;
    lapack::for_each_matrix(batch_count(input), 16 * n * n * n, [&](int64_t i) {
      C* columns = with_vectors ? vectors.data_as<C>() + i * n * n : nullptr;
      info.data_as<int32_t>()[i] = static_cast<int32_t>(lapack::geev(
          n, work.data_as<T>() + i * n * n, leading(n), values.data_as<C>() + i * n, columns));
    });
  });
  check_info(info, kNoConvergence, ")");
  return {values, vectors};
}

// Whether somebody may want gradients: those of values alone are made of the vectors too.
bool may_be_recorded(const Tensor& t) { return t->flags & ~kIsView || (t->base && t->base->flags); }

double epsilon_of(DType real) {
  return real == DType::kFloat32 ? std::numeric_limits<float>::epsilon()
                                 : std::numeric_limits<double>::epsilon();
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> compute::linalg_svd(const Tensor& A, bool full_matrices,
                                                       std::optional<std::string> driver) {
  FB_CHECK(!driver, "driver= is for CUDA alone");
  return decompose(A, full_matrices ? 'A' : 'S');
}

Tensor composed::linalg_svdvals(const Tensor& A, std::optional<std::string> driver) {
  FB_CHECK(!driver, "driver= is for CUDA alone");
  if (may_be_recorded(A)) return std::get<1>(linalg_svd(A, false, {}));
  return std::get<1>(decompose(A, 'N'));
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& input, bool some, bool compute_uv) {
  if (compute_uv) {
    const auto [u, s, vh] = linalg_svd(input, !some, {});
    return {u, s, conj(transpose(vh, -2, -1))};
  }
  const auto none = [&](int64_t size) {
    return new_zeros(input, with_sizes(batch_of(input), {size, size}));
  };
  return {none(input.size(-2)), linalg_svdvals(input, {}), none(input.size(-1))};
}

std::tuple<Tensor, Tensor> compute::linalg_eigh(const Tensor& input, const std::string& UPLO) {
  return eigen_hermitian(input, UPLO, 'V');
}

Tensor composed::linalg_eigvalsh(const Tensor& input, const std::string& UPLO) {
  if (may_be_recorded(input)) return std::get<0>(linalg_eigh(input, UPLO));
  return std::get<0>(eigen_hermitian(input, UPLO, 'N'));
}

std::tuple<Tensor, Tensor> compute::linalg_eig(const Tensor& input) {
  return eigen_general(input, true);
}

Tensor composed::linalg_eigvals(const Tensor& input) {
  if (may_be_recorded(input)) return std::get<0>(linalg_eig(input));
  return std::get<0>(eigen_general(input, false));
}

Tensor compute::_linalg_pinv(const Tensor& A, const Tensor& atol, const Tensor& rtol,
                             bool hermitian) {
  check_matrices(A);
  const int64_t m = A.size(-2);
  const int64_t n = A.size(-1);
  if (A.numel() == 0) return new_zeros(A, with_sizes(batch_of(A), {n, m}));
  Tensor left, values, right;
  if (hermitian) {
    std::tie(values, left) = linalg_eigh(A, "L");
    right = left;
  } else {
    Tensor vh;
    std::tie(left, values, vh) = linalg_svd(A, false, {});
    right = conj(turned_over(vh));
  }
  const DType real = values.dtype();
  const Tensor sizes = abs(values);
  const Tensor largest = amax(sizes, IntSpan{-1}, true);
  const auto tolerance = [&](const Tensor& given) {
    return given.dim() == 0 ? cast(given, real) : unsqueeze(cast(given, real), -1);
  };
  const double default_rtol = epsilon_of(real) * static_cast<double>(std::max(m, n));
  Tensor threshold = rtol.defined() ? mul(tolerance(rtol), largest) : mul(largest, default_rtol);
  if (atol.defined()) threshold = maximum(tolerance(atol), threshold);
  const Tensor inverse = where(gt(sizes, threshold), reciprocal(values), 0);
  return matmul(mul(right, unsqueeze(inverse, -2)), conj(turned_over(left)));
}

}  // namespace fb::ops
