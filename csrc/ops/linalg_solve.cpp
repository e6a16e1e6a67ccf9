// Linear systems, inverses and determinants.
#include "gen/ops/complex.h"
#include "gen/ops/linalg.h"
#include "gen/ops/view.h"
#include "ops/linalg_support.h"
#include "ops/matrix.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

// The operands of a X = b with their batch dimensions broadcast against each other.
struct System {
  Tensor a;
  Tensor b;
};

System broadcast_system(const Tensor& a, const Tensor& b) {
  const Dims batch = broadcast_shapes(batch_of(a), batch_of(b));
  return {ops::expand(a, with_sizes(batch, {a.size(-2), a.size(-1)})),
          ops::expand(b, with_sizes(batch, {b.size(-2), b.size(-1)}))};
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
  const Tensor pivots =
      make_tensor(with_sizes(batch_of(x), {lu.size(-1)}), DType::kInt32, x.device());
  const Tensor info = make_tensor(batch_of(x), DType::kInt32, x.device());
  kernel::of(x).lu_factor_solve(matrices_of(lu), pivots.data_as<int32_t>(), matrices_of(x),
                                info.data_as<int32_t>());
  return {x, lu, pivots, info};
}

constexpr const char* kSingular = " is zero: the matrix is singular";

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> compute::_linalg_solve_ex(const Tensor& A,
                                                                     const Tensor& B, bool left,
                                                                     bool check_errors) {
  check_square(A);
  const bool vector = is_vector_side(A, B);
  FB_CHECK(left || !vector, "left=False needs B to be a matrix, got shape ", B.sizes());
  const Tensor b = vector ? ops::unsqueeze(B, -1) : B;
  check_matrices(b);
  check_system(A, b, left);
  auto [x, lu, pivots, info] = left ? solve_left(A, b) : solve_left(transposed(A), transposed(b));
  if (!left) x = transposed(x);
  // PyTorch lays out a batch of vectors as if it were a matrix.
  if (vector && x.dim() > 2)
    x = column_major_copy(without_last(x));
  else if (vector)
    x = without_last(x);
  if (check_errors) check_info(info, "the diagonal element ", kSingular);
  return {x, lu, pivots, info};
}

std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B, bool left,
                                           bool check_errors) {
  const auto [x, lu, pivots, info] = ops::_linalg_solve_ex(A, B, left, check_errors);
  return {x, info};
}

Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  return std::get<0>(ops::_linalg_solve_ex(A, B, left, true));
}

std::tuple<Tensor, Tensor> compute::linalg_inv_ex(const Tensor& A, bool check_errors) {
  check_square(A);
  const Tensor inverse = column_major_copy(A);
  const Tensor info = make_tensor(batch_of(A), DType::kInt32, A.device());
  kernel::of(inverse).invert(matrices_of(inverse), info.data_as<int32_t>());
  if (check_errors) check_info(info, "the diagonal element ", kSingular);
  return {inverse, info};
}

Tensor linalg_inv(const Tensor& A) { return std::get<0>(ops::linalg_inv_ex(A, true)); }

Tensor compute::linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left,
                                bool adjoint) {
  check_square(LU);
  FB_CHECK(pivots.dtype() == DType::kInt32, "expected pivots of dtype int32, got ", pivots.dtype());
  check_matrices(B);
  check_system(LU, B, left);
  if (!left) {
    // X A = B is A^H X^H = B^H.
    const Tensor solved =
        compute::linalg_lu_solve(LU, pivots, ops::conj(transposed(B)), true, !adjoint);
    return ops::conj(transposed(solved));
  }
  const System system = broadcast_system(LU, B);
  const Tensor lu = column_major_copy(system.a);
  const Tensor x = column_major_copy(system.b);
  const Tensor rows = contiguous(compute::expand(pivots, lu.sizes().first(lu.dim() - 1)));
  check_pivots(rows, rows.numel(), lu.size(-1));
  kernel::of(x).lu_solve(matrices_of(lu), rows.data_as<int32_t>(), matrices_of(x), adjoint);
  return x;
}

Tensor lu_solve(const Tensor& b, const Tensor& LU_data, const Tensor& LU_pivots) {
  return ops::linalg_lu_solve(LU_data, LU_pivots, b, true, false);
}

Tensor compute::linalg_solve_triangular(const Tensor& input, const Tensor& B, bool upper, bool left,
                                        bool unitriangular) {
  check_square(input);
  check_matrices(B);
  check_system(input, B, left);
  const System system = broadcast_system(input, B);
  const Tensor a = column_major_copy(system.a);
  const Tensor x = column_major_copy(system.b);
  kernel::of(x).solve_triangular(matrices_of(a), matrices_of(x),
                                 {.left = left, .upper = upper, .unit = unitriangular});
  return x;
}

std::tuple<Tensor, Tensor> compute::triangular_solve(const Tensor& b, const Tensor& A, bool upper,
                                                     bool transpose, bool unitriangular) {
  check_square(A);
  const Tensor a = transpose ? transposed(A) : A;
  return {compute::linalg_solve_triangular(a, b, upper != transpose, true, unitriangular),
          column_major_copy(A)};
}

Tensor compute::cholesky_solve(const Tensor& input, const Tensor& L, bool upper) {
  check_square(L);
  check_matrices(input);
  check_system(L, input, true);
  const System system = broadcast_system(L, input);
  const Tensor factor = column_major_copy(system.a);
  const Tensor x = column_major_copy(system.b);
  kernel::of(x).cholesky_solve(matrices_of(factor), upper, matrices_of(x));
  return x;
}

Tensor compute::cholesky_inverse(const Tensor& L, bool upper) {
  check_square(L);
  const Tensor inverse = column_major_copy(L);
  const Tensor info = make_tensor(batch_of(L), DType::kInt32, L.device());
  kernel::of(inverse).cholesky_invert(matrices_of(inverse), upper, info.data_as<int32_t>());
  check_info(info, "the diagonal element ", kSingular);
  return inverse;
}

Tensor compute::linalg_det(const Tensor& A) {
  check_square(A);
  const auto [lu, pivots, info] = compute::linalg_lu_factor_ex(A, true, false);
  const Tensor out = make_tensor(batch_of(A), A.dtype(), A.device());
  kernel::of(out).determinant(matrices_of(lu), pivots.data_as<int32_t>(), out.data());
  return out;
}

std::tuple<Tensor, Tensor> compute::linalg_slogdet(const Tensor& A) {
  check_square(A);
  const auto [lu, pivots, info] = compute::linalg_lu_factor_ex(A, true, false);
  const Tensor sign = make_tensor(batch_of(A), A.dtype(), A.device());
  const Tensor log = make_tensor(batch_of(A), real_type(A.dtype()), A.device());
  kernel::of(sign).log_determinant(matrices_of(lu), pivots.data_as<int32_t>(), sign.data(),
                                   log.data());
  return {sign, log};
}

}  // namespace fb::ops
