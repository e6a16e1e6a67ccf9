// Gradients of linear systems, inverses, determinants and least squares.
#include "autograd/formulas/linalg.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/linalg.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"
#include "gen/ops/shape.h"

namespace fb::autograd::formula {
namespace {

// Whether right-hand sides are vectors, one per matrix, rather than columns of a matrix.
bool is_vector(const Tensor& a, const Tensor& b) {
  return b.dim() == 1 || (b.dim() == a.dim() - 1 && b.sizes() == a.sizes().first(a.dim() - 1));
}
Tensor as_columns(const Tensor& x, bool vector) { return vector ? ops::unsqueeze(x, -1) : x; }

// A^-H B, or B A^-H if not left. The factors have no history, so they are used only if the result
// is not differentiated again.
Tensor solved_with_adjoint(const Tensor& b, const Tensor& a, const Tensor& lu, const Tensor& pivots,
                           bool left) {
  if (is_differentiated(b, a)) return ops::linalg_solve(adjoint_of(a), b, left);
  const Tensor x = ops::linalg_lu_solve(lu, pivots, left ? b : transposed(b), true, true);
  return left ? x : transposed(x);
}

// The gradient of the matrix of a system, from those of its right-hand side.
Tensor matrix_grad(const Tensor& side_grad, const Tensor& x, bool left) {
  return left ? -ops::matmul(side_grad, adjoint_of(x)) : -ops::matmul(adjoint_of(x), side_grad);
}

Tensor triangle(const Tensor& x, bool upper, bool unitriangular) {
  return upper ? ops::triu(x, unitriangular ? 1 : 0) : ops::tril(x, unitriangular ? -1 : 0);
}

// conj(det A) A^-H, which has a limit where A is singular.
Tensor cofactors(const Tensor& a) {
  const auto [u, s, vh] = ops::linalg_svd(a, true, {});
  const int64_t n = a.size(-1);
  // Products of all singular values but one.
  const Tensor eye = ops::eye(n, s.dtype(), s.device());
  const Tensor others = ops::prod(ops::unsqueeze(s, -2) * (1 - eye) + eye, -1);
  const Tensor phase = ops::linalg_det(u) * ops::linalg_det(vh);
  const Tensor scale = ops::unsqueeze(ops::unsqueeze(conj(phase), -1), -1);
  return scale * ops::matmul(u * ops::unsqueeze(others, -2), vh);
}

Tensor twice_hermitian_part(const Tensor& x) { return x + adjoint_of(x); }

// The gradient of A X, from that of the squared lengths of the columns of A X - B.
Tensor residual_grad(const Tensor& grad_residuals, const Tensor& a, const Tensor& b,
                     const Tensor& x) {
  return 2 * (ops::matmul(a, x) - b) * ops::unsqueeze(grad_residuals, -2);
}

bool has_residuals(const Tensor& grad_residuals) {
  return grad_residuals.defined() && grad_residuals.numel() > 0;
}

}  // namespace

Tensor solve_side_backward(const Tensor& grad, const Tensor& a, const Tensor& lu,
                           const Tensor& pivots, const Tensor& x, bool left) {
  const bool vector = is_vector(a, x);
  const Tensor g = solved_with_adjoint(as_columns(grad, vector), a, lu, pivots, left);
  return vector ? ops::squeeze(g, -1) : g;
}

Tensor solve_matrix_backward(const Tensor& grad, const Tensor& a, const Tensor& lu,
                             const Tensor& pivots, const Tensor& x, bool left) {
  const bool vector = is_vector(a, x);
  const Tensor g = solved_with_adjoint(as_columns(grad, vector), a, lu, pivots, left);
  return matrix_grad(g, as_columns(x, vector), left);
}

Tensor inverse_backward(const Tensor& grad, const Tensor& inverse) {
  const Tensor h = adjoint_of(inverse);
  return -ops::matmul(h, ops::matmul(grad, h));
}

Tensor lu_solve_factor_backward(const Tensor& grad, const Tensor& lu, const Tensor& pivots,
                                const Tensor& x, bool left, bool adjoint) {
  const Tensor side = ops::linalg_lu_solve(lu, pivots, grad, left, !adjoint);
  const Tensor whole = matrix_grad(side, x, left);
  const Tensor grad_a = adjoint ? adjoint_of(whole) : whole;
  const auto [p, l, u] = ops::lu_unpack(lu, pivots, true, true);
  const Tensor rows = ops::matmul(transposed(p), grad_a);
  return ops::tril(ops::matmul(rows, adjoint_of(u)), -1) +
         ops::triu(ops::matmul(adjoint_of(l), rows));
}

Tensor solve_triangular_backward(const Tensor& grad, const Tensor& a, const Tensor& x, bool upper,
                                 bool left, bool unitriangular) {
  const Tensor side =
      ops::linalg_solve_triangular(adjoint_of(a), grad, !upper, left, unitriangular);
  return triangle(matrix_grad(side, x, left), upper, unitriangular);
}

Tensor triangular_solve_side_backward(const Tensor& grad, const Tensor& a, bool upper,
                                      bool transpose, bool unitriangular) {
  const Tensor inverted = transpose ? conj(a) : adjoint_of(a);
  return ops::linalg_solve_triangular(inverted, grad, upper == transpose, true, unitriangular);
}

Tensor triangular_solve_backward(const Tensor& grad, const Tensor& grad_copy, const Tensor& a,
                                 const Tensor& x, bool upper, bool transpose, bool unitriangular) {
  const Tensor side = triangular_solve_side_backward(grad, a, upper, transpose, unitriangular);
  const Tensor whole = matrix_grad(side, x, true);
  return triangle(transpose ? transposed(whole) : whole, upper, unitriangular) + grad_copy;
}

Tensor cholesky_solve_backward(const Tensor& grad, const Tensor& factor, const Tensor& x,
                               bool upper) {
  const Tensor side = ops::cholesky_solve(grad, factor, upper);
  const Tensor inner = -twice_hermitian_part(ops::matmul(side, adjoint_of(x)));
  return triangle(upper ? ops::matmul(factor, inner) : ops::matmul(inner, factor), upper, false);
}

Tensor cholesky_inverse_backward(const Tensor& grad, const Tensor& factor, const Tensor& inverse,
                                 bool upper) {
  const Tensor inner = -ops::matmul(inverse, ops::matmul(twice_hermitian_part(grad), inverse));
  return triangle(upper ? ops::matmul(factor, inner) : ops::matmul(inner, factor), upper, false);
}

Tensor det_backward(const Tensor& grad, const Tensor& a, const Tensor& det) {
  const auto as_matrices = [](const Tensor& t) {
    return ops::unsqueeze(ops::unsqueeze(t, -1), -1);
  };
  const bool is_singular =
      a.numel() > 0 && !ops::equal(ops::ne(det, 0), ops::ones_like(det, DType::kBool));
  if (is_singular) return as_matrices(grad) * cofactors(a);
  const Tensor eye = ops::eye(a.size(-1), a.dtype(), a.device());
  return ops::linalg_solve(adjoint_of(a), as_matrices(grad * conj(det)) * eye, true);
}

Tensor slogdet_backward(const Tensor& grad_sign, const Tensor& grad_log, const Tensor& a,
                        const Tensor& sign) {
  Tensor factor = grad_log;
  if (is_complex(a.dtype())) {
    // The phase changes with the imaginary part of log det.
    const Tensor phase = ops::imag(conj(grad_sign) * sign);
    factor = ops::complex(grad_log, -phase);
  }
  const Tensor eye = ops::eye(a.size(-1), a.dtype(), a.device());
  const Tensor side = ops::unsqueeze(ops::unsqueeze(factor, -1), -1) * eye;
  return ops::linalg_solve(adjoint_of(a), side, true);
}

Tensor pinv_backward(const Tensor& grad, const Tensor& pinv, const Tensor& a) {
  const Tensor h = adjoint_of(grad);
  const Tensor pinv_h = adjoint_of(pinv);
  if (a.size(-2) <= a.size(-1)) {
    const Tensor k = ops::matmul(h, pinv);
    const Tensor k_pinv_h = ops::matmul(k, pinv_h);
    return k_pinv_h - adjoint_of(ops::matmul(pinv, k)) -
           ops::matmul(ops::matmul(a, pinv), k_pinv_h) +
           ops::matmul(ops::matmul(pinv_h, pinv), h - ops::matmul(k, a));
  }
  const Tensor k = ops::matmul(pinv, h);
  const Tensor pinv_h_k = ops::matmul(pinv_h, k);
  return pinv_h_k - adjoint_of(ops::matmul(k, pinv)) +
         ops::matmul(h - ops::matmul(a, k), ops::matmul(pinv, pinv_h)) -
         ops::matmul(ops::matmul(pinv_h_k, pinv), a);
}

Tensor lstsq_matrix_backward(const Tensor& grad_x, const Tensor& grad_residuals, const Tensor& a,
                             const Tensor& b, const Tensor& x) {
  const bool vector = is_vector(a, b);
  const Tensor columns = as_columns(b, vector);
  const Tensor solution = as_columns(x, vector);
  const Tensor pinv = ops::_linalg_pinv(a);
  const Tensor grad_pinv = ops::matmul(as_columns(grad_x, vector), adjoint_of(columns));
  const Tensor grad = pinv_backward(grad_pinv, pinv, a);
  if (!has_residuals(grad_residuals)) return grad;
  return grad +
         ops::matmul(residual_grad(grad_residuals, a, columns, solution), adjoint_of(solution));
}

Tensor lstsq_side_backward(const Tensor& grad_x, const Tensor& grad_residuals, const Tensor& a,
                           const Tensor& b, const Tensor& x) {
  const bool vector = is_vector(a, b);
  Tensor grad = ops::matmul(adjoint_of(ops::_linalg_pinv(a)), as_columns(grad_x, vector));
  if (has_residuals(grad_residuals)) {
    const Tensor columns = as_columns(b, vector);
    grad = grad - residual_grad(grad_residuals, a, columns, as_columns(x, vector));
  }
  return vector ? ops::squeeze(grad, -1) : grad;
}

}  // namespace fb::autograd::formula
