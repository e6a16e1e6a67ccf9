// Factorisations: LU, Cholesky, QR.
#include "gen/ops/linalg.h"
#include "ops/linalg_support.h"
#include "ops/matrix.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

Tensor empty_of(const Tensor& like) { return make_tensor({0}, like.dtype(), like.device()); }

// The first n columns of Q from the reflectors in `packed` (m x anything, column-major).
Tensor build_q(const Tensor& packed, const Tensor& tau, int64_t columns) {
  const Tensor q = make_column_major(batch_of(packed), packed.size(-2), columns, packed.dtype(),
                                     packed.device());
  kernel::of(q).qr_columns(matrices_of(packed), tau.data(), tau.size(-1), matrices_of(q));
  return q;
}

// LAPACK reads as many columns and rows as there are elements of tau.
void check_reflectors(const Tensor& input, const Tensor& tau) {
  FB_CHECK(tau.dim() == input.dim() - 1 && tau.sizes().first(tau.dim() - 1) == batch_of(input) &&
               tau.size(-1) <= std::min(input.size(-2), input.size(-1)),
           "expected tau to have one element per reflector of input of shape ", input.sizes(),
           ", got shape ", tau.sizes());
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> compute::linalg_lu_factor_ex(const Tensor& A, bool pivot,
                                                                bool check_errors) {
  check_matrices(A);
  FB_CHECK(pivot, "LU without pivoting is not implemented on the CPU");
  const Tensor lu = column_major_copy(A);
  const Tensor pivots = make_tensor(with_sizes(batch_of(A), {std::min(A.size(-2), A.size(-1))}),
                                    DType::kInt32, A.device());
  const Tensor info = make_tensor(batch_of(A), DType::kInt32, A.device());
  kernel::of(lu).lu_factor(matrices_of(lu), pivots.data_as<int32_t>(), info.data_as<int32_t>());
  if (check_errors) check_info(info, "the diagonal element ", " of U is zero");
  return {lu, pivots, info};
}

std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot) {
  const auto [lu, pivots, info] = ops::linalg_lu_factor_ex(A, pivot, false);
  return {lu, pivots};
}

std::tuple<Tensor, Tensor, Tensor> compute::lu_unpack(const Tensor& LU_data,
                                                      const Tensor& LU_pivots, bool unpack_data,
                                                      bool unpack_pivots) {
  check_matrices(LU_data);
  FB_CHECK(LU_pivots.dtype() == DType::kInt32, "expected LU_pivots of dtype int32, got ",
           LU_pivots.dtype());
  const int64_t m = LU_data.size(-2);
  const int64_t n = LU_data.size(-1);
  const int64_t k = std::min(m, n);
  const IntSpan batch = batch_of(LU_data);
  Tensor p = empty_of(LU_data), l = empty_of(LU_data), u = empty_of(LU_data);
  if (unpack_data) {
    // Results are row-major: the lower triangle is the upper one for column-major code.
    l = make_tensor(with_sizes(batch, {m, k}), LU_data.dtype(), LU_data.device());
    u = make_tensor(with_sizes(batch, {k, n}), LU_data.dtype(), LU_data.device());
    const Tensor lu = contiguous(LU_data);
    kernel::of(lu).lu_unpack(lu.dtype(), batch_count(lu), m, n, lu.data(), l.data(), u.data());
  }
  if (unpack_pivots) {
    const Tensor pivots = contiguous(LU_pivots);
    check_pivots(pivots, batch_count(LU_data) * k, m);
    p = make_tensor(with_sizes(batch, {m, m}), LU_data.dtype(), LU_data.device());
    kernel::of(p).pivots_to_permutation(p.dtype(), batch_count(LU_data), m, k,
                                        pivots.data_as<int32_t>(), p.data());
  }
  return {p, l, u};
}

std::tuple<Tensor, Tensor, Tensor> compute::linalg_lu(const Tensor& A, bool pivot) {
  const auto [lu, pivots, info] = compute::linalg_lu_factor_ex(A, pivot, false);
  return compute::lu_unpack(lu, pivots, true, true);
}

std::tuple<Tensor, Tensor> compute::linalg_cholesky_ex(const Tensor& A, bool upper,
                                                       bool check_errors) {
  check_square(A);
  const Tensor factor = column_major_copy(A);
  const Tensor info = make_tensor(batch_of(A), DType::kInt32, A.device());
  kernel::of(factor).cholesky_factor(matrices_of(factor), upper, info.data_as<int32_t>());
  if (check_errors) {
    check_info(info, "the input is not positive-definite: the leading minor of order ",
               " is not positive");
  }
  return {factor, info};
}

Tensor compute::cholesky(const Tensor& input, bool upper) {
  return input.numel() == 0 ? copy_of(input) : ops::linalg_cholesky(input, upper);
}

Tensor linalg_cholesky(const Tensor& A, bool upper) {
  return std::get<0>(ops::linalg_cholesky_ex(A, upper, true));
}

std::tuple<Tensor, Tensor> compute::geqrf(const Tensor& input) {
  check_matrices(input);
  const int64_t k = std::min(input.size(-2), input.size(-1));
  const Tensor packed = column_major_copy(input);
  const Tensor tau = make_tensor(with_sizes(batch_of(input), {k}), input.dtype(), input.device());
  kernel::of(packed).qr_factor(matrices_of(packed), tau.data());
  return {packed, tau};
}

std::tuple<Tensor, Tensor> compute::linalg_qr(const Tensor& A, const std::string& mode) {
  FB_CHECK(mode == "reduced" || mode == "complete" || mode == "r",
           "expected mode 'reduced', 'complete' or 'r', got '", mode, "'");
  const auto [packed, tau] = compute::geqrf(A);
  const int64_t m = A.size(-2);
  const int64_t n = A.size(-1);
  const int64_t height = mode == "complete" ? m : std::min(m, n);
  const Tensor q = mode == "r" ? empty_of(A) : build_q(packed, tau, height);
  const Tensor r = make_column_major(batch_of(A), height, n, A.dtype(), A.device());
  kernel::of(r).qr_triangle(matrices_of(packed), matrices_of(r));
  return {q, r};
}

std::tuple<Tensor, Tensor> qr(const Tensor& input, bool some) {
  return ops::linalg_qr(input, some ? "reduced" : "complete");
}

Tensor compute::linalg_householder_product(const Tensor& input, const Tensor& tau) {
  check_matrices(input);
  check_same_dtype(input, tau);
  FB_CHECK(input.size(-2) >= input.size(-1),
           "expected at least as many rows as columns, got shape ", input.sizes());
  check_reflectors(input, tau);
  return build_q(column_major_copy(input), contiguous(tau), input.size(-1));
}

Tensor compute::ormqr(const Tensor& input, const Tensor& tau, const Tensor& other, bool left,
                      bool transpose) {
  check_matrices(input);
  check_same_dtype(input, tau);
  check_same_dtype(input, other);
  check_reflectors(input, tau);
  FB_CHECK(other.dim() == input.dim() && batch_of(other) == batch_of(input),
           "expected other to have the batch of input, got shapes ", other.sizes(), " and ",
           input.sizes());
  const Tensor packed = column_major_copy(input);
  const Tensor factors = contiguous(tau);
  const Tensor out = column_major_copy(other);
  FB_CHECK(input.size(-2) == out.size(left ? -2 : -1), "reflectors of shape ", input.sizes(),
           " do not fit other of shape ", other.sizes());
  kernel::of(out).qr_multiply(matrices_of(packed), factors.data(), tau.size(-1), matrices_of(out),
                              left, transpose);
  return out;
}

}  // namespace fb::ops
