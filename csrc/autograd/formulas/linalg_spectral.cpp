// Gradients of eigenvalues, singular values and the matrix exponential.
//
// Note [Phases]: eigenvectors and singular vectors are determined up to a factor of size 1. For
// complex matrices that is a continuum, and a function of the vectors has a gradient only if it
// does not depend on the factor; this can be seen from the gradient, and is refused.
#include "autograd/batch.h"
#include "autograd/formulas/linalg.h"
#include "gen/ops/compare.h"
#include "gen/ops/create.h"
#include "gen/ops/linalg.h"
#include "gen/ops/matmul.h"
#include "gen/ops/padding.h"
#include "gen/ops/shape.h"

namespace fb::autograd::formula {
namespace {

Tensor diagonal_of(const Tensor& t) { return ops::diagonal(t, 0, -2, -1); }
Tensor skew_part(const Tensor& t) { return t - adjoint_of(t); }

// x_ij / (values_j - values_i) off the diagonal, 0 on it.
Tensor divided_by_gaps(const Tensor& x, const Tensor& values) {
  const Tensor eye = ops::eye(values.size(-1), values.dtype(), values.device());
  const Tensor gaps = ops::unsqueeze(values, -2) - ops::unsqueeze(values, -1) + eye;
  return x / gaps * (1 - eye);
}

void check_phase_free(const Tensor& diagonal, const char* what) {
  if (!is_complex(diagonal.dtype())) return;
  const Tensor phase = ops::imag(bottom_of(diagonal));
  FB_CHECK(ops::allclose(phase, ops::zeros_like(phase), 1e-2, 1e-2), "The ", what,
           " in the complex case are specified up to multiplication by e^{i phi}. The specified "
           "loss function depends on this quantity, so it is ill-defined.");
}

// V diag(values) V^H.
Tensor rebuilt(const Tensor& vectors, const Tensor& values) {
  return ops::matmul(vectors * ops::unsqueeze(values, -2), adjoint_of(vectors));
}

}  // namespace

Tensor eigh_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values,
                     const Tensor& vectors) {
  if (!grad_vectors.defined()) return rebuilt(vectors, grad_values);
  const Tensor vh = adjoint_of(vectors);
  const Tensor projected = ops::matmul(vh, grad_vectors);
  check_phase_free(diagonal_of(projected), "eigenvectors");
  // Orthonormal vectors can only rotate: the rest of their gradient has no effect.
  Tensor inner = divided_by_gaps(0.5 * skew_part(projected), values);
  if (grad_values.defined()) inner = inner + ops::diag_embed(grad_values);
  return ops::matmul(vectors, ops::matmul(inner, vh));
}

Tensor eig_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values,
                    const Tensor& vectors) {
  const Tensor vh = adjoint_of(vectors);
  if (!grad_vectors.defined())
    return ops::linalg_solve(vh, ops::unsqueeze(grad_values, -1) * vh, true);
  const Tensor projected = ops::matmul(vh, grad_vectors);
  check_phase_free(diagonal_of(projected), "eigenvectors");
  // Vectors of length 1 cannot grow along themselves.
  const Tensor growth = ops::unsqueeze(ops::real(diagonal_of(projected)), -2);
  Tensor inner = divided_by_gaps(projected - ops::matmul(vh, vectors) * growth, conj(values));
  if (grad_values.defined()) inner = inner + ops::diag_embed(grad_values);
  return ops::linalg_solve(vh, ops::matmul(inner, vh), true);
}

Tensor svd_backward(const Tensor& grad_u, const Tensor& grad_s, const Tensor& grad_vh,
                    const Tensor& u, const Tensor& s, const Tensor& vh) {
  // Of full matrices, the columns beyond the singular values are arbitrary.
  const int64_t k = s.size(-1);
  const Tensor left = ops::narrow(u, -1, 0, k);
  const Tensor right = ops::narrow(vh, -2, 0, k);
  if (!grad_u.defined() && !grad_vh.defined())
    return ops::matmul(left * ops::unsqueeze(grad_s, -2), right);
  const Tensor gu = grad_u.defined() ? ops::narrow(grad_u, -1, 0, k) : ops::zeros_like(left);
  const Tensor gvh = grad_vh.defined() ? ops::narrow(grad_vh, -2, 0, k) : ops::zeros_like(right);
  const Tensor row = ops::unsqueeze(s, -2);
  const Tensor column = ops::unsqueeze(s, -1);
  const Tensor skew_u = skew_part(ops::matmul(adjoint_of(left), gu));
  const Tensor skew_v = skew_part(ops::matmul(right, adjoint_of(gvh)));
  check_phase_free(diagonal_of(skew_u + skew_v), "singular vectors");
  const Tensor squares = s * s;
  Tensor inner = divided_by_gaps(skew_u, squares) * row + column * divided_by_gaps(skew_v, squares);
  if (grad_s.defined()) inner = inner + ops::diag_embed(grad_s);
  if (is_complex(u.dtype())) inner = inner + ops::diag_embed(diagonal_of(skew_u) / (2 * s));
  Tensor grad = ops::matmul(left, ops::matmul(inner, right));
  if (u.size(-2) > k) {
    const Tensor outside = gu - ops::matmul(left, ops::matmul(adjoint_of(left), gu));
    grad = grad + ops::matmul(outside / row, right);
  }
  if (vh.size(-1) > k) {
    const Tensor outside = gvh - ops::matmul(ops::matmul(gvh, adjoint_of(right)), right);
    grad = grad + ops::matmul(left, outside / column);
  }
  return grad;
}

Tensor matrix_exp_backward(const Tensor& grad, const Tensor& a) {
  // exp [[A^H, G], [0, A^H]] has the derivative of exp at A^H in the direction G at its upper
  // right.
  const int64_t n = a.size(-1);
  const Tensor ah = adjoint_of(a);
  const Tensor above = ops::cat(std::vector{ah, grad}, -1);
  const Tensor below = ops::constant_pad_nd(ah, {n, 0});
  const Tensor whole = ops::linalg_matrix_exp(ops::cat(std::vector{above, below}, -2));
  return ops::narrow(ops::narrow(whole, -2, 0, n), -1, n, n);
}

}  // namespace fb::autograd::formula
