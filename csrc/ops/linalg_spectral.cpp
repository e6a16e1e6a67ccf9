// Eigenvalues and singular values.
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

using kernel::SvdVectors;

constexpr const char* kNotFinite =
    "the algorithm failed to converge because the input contains infinities or NaNs";
constexpr const char* kNoConvergence =
    "the algorithm failed to converge: the matrix is ill-conditioned or has too many repeated "
    "values (code ";

// The names of cuSOLVER's: all of them are LAPACK's gesdd here.
void check_driver(const Tensor& a, const std::optional<std::string>& driver) {
  if (!driver) return;
  FB_CHECK(a.device() != kHost, "driver= is for CUDA alone");
  FB_CHECK(*driver == "gesvd" || *driver == "gesvdj" || *driver == "gesvda",
           "expected driver 'gesvd', 'gesvdj' or 'gesvda', got '", *driver, "'");
}

std::tuple<Tensor, Tensor, Tensor> decompose(const Tensor& A, SvdVectors vectors) {
  check_matrices(A);
  check_finite(A, ErrorKind::kLinAlg, kNotFinite);
  const int64_t m = A.size(-2);
  const int64_t n = A.size(-1);
  const int64_t k = std::min(m, n);
  const auto count = [&](int64_t all) {
    return vectors == SvdVectors::kAll ? all : vectors == SvdVectors::kReduced ? k : 0;
  };
  const IntSpan batch = batch_of(A);
  const Tensor work = column_major_copy(A);
  const Tensor u = make_column_major(batch, m, count(m), A.dtype(), A.device());
  const Tensor s = make_tensor(with_sizes(batch, {k}), real_type(A.dtype()), A.device());
  const Tensor vh = make_column_major(batch, count(n), n, A.dtype(), A.device());
  const Tensor info = make_tensor(batch, DType::kInt32, A.device());
  kernel::of(work).svd(matrices_of(work), vectors, s.data(), matrices_of(u), matrices_of(vh),
                       info.data_as<int32_t>());
  check_info(info, kNoConvergence, ")");
  return {u, s, vh};
}

std::tuple<Tensor, Tensor> eigen_hermitian(const Tensor& A, const std::string& UPLO,
                                           bool with_vectors) {
  check_square(A);
  FB_CHECK(UPLO == "L" || UPLO == "U" || UPLO == "l" || UPLO == "u",
           "expected UPLO to be 'L' or 'U', got '", UPLO, "'");
  const int64_t n = A.size(-1);
  const Tensor vectors = column_major_copy(A);
  const Tensor values = make_tensor(with_sizes(batch_of(A), {n}), real_type(A.dtype()), A.device());
  const Tensor info = make_tensor(batch_of(A), DType::kInt32, A.device());
  check_finite(A, ErrorKind::kLinAlg, kNotFinite);
  kernel::of(vectors).eigen_hermitian(matrices_of(vectors), UPLO == "U" || UPLO == "u",
                                      with_vectors, values.data(), info.data_as<int32_t>());
  check_info(info, kNoConvergence, ")");
  return {values, vectors};
}

// `vectors` is left undefined unless they are wanted.
std::tuple<Tensor, Tensor> eigen_general(const Tensor& input, bool with_vectors) {
  check_square(input);
  const int64_t n = input.size(-1);
  const DType type = complex_type(input.dtype());
  const Tensor work = column_major_copy(input);
  const Tensor values = make_tensor(with_sizes(batch_of(input), {n}), type, input.device());
  const Tensor vectors =
      with_vectors ? make_column_major(batch_of(input), n, n, type, input.device()) : Tensor();
  const Tensor info = make_tensor(batch_of(input), DType::kInt32, input.device());
  check_finite(input, ErrorKind::kRuntime, "expected no infinities or NaNs in input");
  kernel::of(work).eigen_general(matrices_of(work), values.data(),
                                 with_vectors ? vectors.data() : nullptr, info.data_as<int32_t>());
  check_info(info, kNoConvergence, ")");
  return {values, vectors};
}

// Whether gradients may be wanted: even those of values alone need the vectors.
bool may_be_recorded(const Tensor& t) { return t->flags & ~kIsView || (t->base && t->base->flags); }

}  // namespace

std::tuple<Tensor, Tensor, Tensor> compute::linalg_svd(const Tensor& A, bool full_matrices,
                                                       std::optional<std::string> driver) {
  check_driver(A, driver);
  return decompose(A, full_matrices ? SvdVectors::kAll : SvdVectors::kReduced);
}

Tensor composed::linalg_svdvals(const Tensor& A, std::optional<std::string> driver) {
  check_driver(A, driver);
  if (may_be_recorded(A)) return std::get<1>(ops::linalg_svd(A, false, {}));
  return std::get<1>(decompose(A, SvdVectors::kNone));
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& input, bool some, bool compute_uv) {
  if (compute_uv) {
    const auto [u, s, vh] = ops::linalg_svd(input, !some, {});
    return {u, s, ops::conj(ops::transpose(vh, -2, -1))};
  }
  const auto none = [&](int64_t size) {
    return ops::new_zeros(input, with_sizes(batch_of(input), {size, size}));
  };
  return {none(input.size(-2)), ops::linalg_svdvals(input, {}), none(input.size(-1))};
}

std::tuple<Tensor, Tensor> compute::linalg_eigh(const Tensor& input, const std::string& UPLO) {
  return eigen_hermitian(input, UPLO, true);
}

Tensor composed::linalg_eigvalsh(const Tensor& input, const std::string& UPLO) {
  if (may_be_recorded(input)) return std::get<0>(ops::linalg_eigh(input, UPLO));
  return std::get<0>(eigen_hermitian(input, UPLO, false));
}

std::tuple<Tensor, Tensor> compute::linalg_eig(const Tensor& input) {
  return eigen_general(input, true);
}

Tensor composed::linalg_eigvals(const Tensor& input) {
  if (may_be_recorded(input)) return std::get<0>(ops::linalg_eig(input));
  return std::get<0>(eigen_general(input, false));
}

Tensor compute::_linalg_pinv(const Tensor& A, const Tensor& atol, const Tensor& rtol,
                             bool hermitian) {
  check_matrices(A);
  const int64_t m = A.size(-2);
  const int64_t n = A.size(-1);
  if (A.numel() == 0) return compute::new_zeros(A, with_sizes(batch_of(A), {n, m}));
  Tensor left, values, right;
  if (hermitian) {
    std::tie(values, left) = compute::linalg_eigh(A, "L");
    right = left;
  } else {
    Tensor vh;
    std::tie(left, values, vh) = compute::linalg_svd(A, false, {});
    right = ops::conj(transposed(vh));
  }
  const DType real = values.dtype();
  const Tensor sizes = compute::abs(values);
  const Tensor largest = compute::amax(sizes, IntSpan{-1}, true);
  const auto tolerance = [&](const Tensor& given) {
    return given.dim() == 0 ? cast(given, real) : compute::unsqueeze(cast(given, real), -1);
  };
  const double default_rtol = epsilon_of(real) * static_cast<double>(std::max(m, n));
  Tensor threshold =
      rtol.defined() ? compute::mul(tolerance(rtol), largest) : compute::mul(largest, default_rtol);
  if (atol.defined()) threshold = compute::maximum(tolerance(atol), threshold);
  const Tensor inverse =
      compute::where(compute::gt(sizes, threshold), compute::reciprocal(values), 0);
  return ops::matmul(compute::mul(right, compute::unsqueeze(inverse, -2)),
                     ops::conj(transposed(left)));
}

}  // namespace fb::ops
