// Gradients of factorisations: Cholesky, LU, QR.
#include "autograd/formulas/linalg.h"
#include "gen/ops/create.h"
#include "gen/ops/linalg.h"
#include "gen/ops/matmul.h"
#include "gen/ops/padding.h"
#include "gen/ops/shape.h"

namespace fb::autograd::formula {
namespace {

// T^-1 B and B T^-1 for triangular T.
Tensor solve_upper(const Tensor& t, const Tensor& b, bool left) {
  return ops::linalg_solve_triangular(t, b, true, left, false);
}
Tensor solve_lower(const Tensor& t, const Tensor& b, bool left, bool unit) {
  return ops::linalg_solve_triangular(t, b, false, left, unit);
}

// L^-H X U^-H for the factors of a square matrix.
Tensor between_inverse_adjoints(const Tensor& l, const Tensor& x, const Tensor& u) {
  const Tensor left = ops::linalg_solve_triangular(adjoint_of(l), x, true, true, true);
  return solve_lower(adjoint_of(u), left, false, false);
}

// A = L U with square L and U, P left out.
Tensor square_lu_grad(const Tensor& lh_grad_l, const Tensor& grad_u_uh, const Tensor& l,
                      const Tensor& u) {
  return between_inverse_adjoints(l, ops::tril(lh_grad_l, -1) + ops::triu(grad_u_uh), u);
}

// A = Q R with square R.
Tensor tall_qr_grad(const Tensor& grad_q, const Tensor& grad_r, const Tensor& q, const Tensor& r) {
  const Tensor x =
      ops::triu(ops::matmul(grad_r, adjoint_of(r)) - ops::matmul(adjoint_of(q), grad_q));
  // The Hermitian matrix that has x above its diagonal, and the real part of x on it.
  const Tensor twice = x + adjoint_of(x);
  const Tensor hermitian = twice - 0.5 * ops::diag_embed(ops::diagonal(twice, 0, -2, -1));
  const Tensor inner = grad_q + ops::matmul(q, hermitian);
  return solve_lower(adjoint_of(r), inner, false, false);
}

}  // namespace

Tensor cholesky_backward(const Tensor& grad, const Tensor& factor, bool upper) {
  const Tensor l = upper ? adjoint_of(factor) : factor;
  const Tensor g = upper ? adjoint_of(grad) : grad;
  const Tensor product = ops::matmul(adjoint_of(l), g);
  const Tensor lower = ops::tril(product) + ops::tril(product, -1);
  const Tensor inner = 0.25 * (lower + adjoint_of(lower));
  return solve_lower(l, solve_upper(adjoint_of(l), inner, true), false, false);
}

Tensor lu_backward(const Tensor& grad_l, const Tensor& grad_u, const Tensor& p, const Tensor& l,
                   const Tensor& u) {
  const int64_t m = l.size(-2);
  const int64_t n = u.size(-1);
  const int64_t k = std::min(m, n);
  if (m <= n) {
    // U = [U1 U2] and U2 = L^-1 P^T A2, so that U2 depends on L too.
    const Tensor u1 = ops::narrow(u, -1, 0, k), u2 = ops::narrow(u, -1, k, n - k);
    const Tensor grad_u1 = ops::narrow(grad_u, -1, 0, k),
                 grad_u2 = ops::narrow(grad_u, -1, k, n - k);
    const Tensor lh_grad_l =
        ops::matmul(adjoint_of(l), grad_l) - ops::matmul(grad_u2, adjoint_of(u2));
    const Tensor grad_a1 = square_lu_grad(lh_grad_l, ops::matmul(grad_u1, adjoint_of(u1)), l, u1);
    const Tensor grad_a2 = ops::linalg_solve_triangular(adjoint_of(l), grad_u2, true, true, true);
    return ops::matmul(p, ops::cat(std::vector{grad_a1, grad_a2}, -1));
  }
  // L = [L1; L2] and L2 = (P^T A)2 U^-1, so that L2 depends on U too.
  const Tensor l1 = ops::narrow(l, -2, 0, k), l2 = ops::narrow(l, -2, k, m - k);
  const Tensor grad_l1 = ops::narrow(grad_l, -2, 0, k), grad_l2 = ops::narrow(grad_l, -2, k, m - k);
  const Tensor grad_u_uh =
      ops::matmul(grad_u, adjoint_of(u)) - ops::matmul(adjoint_of(l2), grad_l2);
  const Tensor grad_a1 = square_lu_grad(ops::matmul(adjoint_of(l1), grad_l1), grad_u_uh, l1, u);
  const Tensor grad_a2 = solve_lower(adjoint_of(u), grad_l2, false, false);
  return ops::matmul(p, ops::cat(std::vector{grad_a1, grad_a2}, -2));
}

Tensor lu_factor_backward(const Tensor& grad, const Tensor& lu, const Tensor& pivots) {
  const int64_t k = std::min(lu.size(-2), lu.size(-1));
  const auto [p, l, u] = ops::lu_unpack(lu, pivots, true, true);
  return lu_backward(ops::narrow(grad, -1, 0, k), ops::narrow(grad, -2, 0, k), p, l, u);
}

Tensor lu_unpack_backward(const Tensor& grad_l, const Tensor& grad_u, IntSpan sizes) {
  const int64_t m = sizes[sizes.size() - 2];
  const int64_t n = sizes[sizes.size() - 1];
  const int64_t k = std::min(m, n);
  // Without unpack_data L and U are empty.
  if (grad_l.dim() < 2) return ops::zeros(sizes, grad_l.dtype(), grad_l.device());
  const Tensor lower = ops::constant_pad_nd(ops::tril(grad_l, -1), {0, n - k});
  const Tensor upper = ops::constant_pad_nd(ops::triu(grad_u), {0, 0, 0, m - k});
  return lower + upper;
}

Tensor qr_backward(const Tensor& grad_q, const Tensor& grad_r, const Tensor& q, const Tensor& r,
                   const std::string& mode) {
  FB_CHECK(mode != "r",
           "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please "
           "use linalg.qr(A, mode='reduced') if you are going to require gradients");
  const int64_t m = q.size(-2);
  const int64_t n = r.size(-1);
  FB_CHECK(mode != "complete" || m <= n,
           "The QR decomposition is not differentiable when mode='complete' and nrows > ncols");
  if (m >= n) return tall_qr_grad(grad_q, grad_r, q, r);
  // A = [A1 A2], R = [R1 R2]: A1 = Q R1 is square and R2 = Q^H A2.
  const Tensor r1 = ops::narrow(r, -1, 0, m), r2 = ops::narrow(r, -1, m, n - m);
  const Tensor grad_r1 = ops::narrow(grad_r, -1, 0, m), grad_r2 = ops::narrow(grad_r, -1, m, n - m);
  const Tensor a2 = ops::matmul(q, r2);
  const Tensor grad_a1 =
      tall_qr_grad(grad_q + ops::matmul(a2, adjoint_of(grad_r2)), grad_r1, q, r1);
  return ops::cat(std::vector{grad_a1, ops::matmul(q, grad_r2)}, -1);
}

}  // namespace fb::autograd::formula
