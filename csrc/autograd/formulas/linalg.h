// Gradients of linear algebra. Names follow the literature: G is the gradient of X, X^H its
// adjoint; batches are the dimensions before the last two.
#pragma once

#include "autograd/formulas/matmul.h"

namespace fb::autograd::formula {

// --- linalg_factor.cpp

Tensor cholesky_backward(const Tensor& grad, const Tensor& factor, bool upper);
Tensor lu_backward(const Tensor& grad_l, const Tensor& grad_u, const Tensor& p, const Tensor& l,
                   const Tensor& u);
Tensor lu_factor_backward(const Tensor& grad, const Tensor& lu, const Tensor& pivots);
Tensor lu_unpack_backward(const Tensor& grad_l, const Tensor& grad_u, IntSpan sizes);
Tensor qr_backward(const Tensor& grad_q, const Tensor& grad_r, const Tensor& q, const Tensor& r,
                   const std::string& mode);

// --- linalg_reflectors.cpp

// Of the reflectors, and of tau, of Q = householder_product(input, tau).
Tensor householder_backward(const Tensor& grad, const Tensor& input, const Tensor& tau);
Tensor householder_tau_backward(const Tensor& grad, const Tensor& input, const Tensor& tau);
// The same for ormqr, which multiplies `other` with Q or its adjoint from one side.
Tensor ormqr_backward(const Tensor& grad, const Tensor& input, const Tensor& tau,
                      const Tensor& other, bool left, bool transpose);
Tensor ormqr_tau_backward(const Tensor& grad, const Tensor& input, const Tensor& tau,
                          const Tensor& other, bool left, bool transpose);

// --- linalg_solve.cpp

// Of A and of B, for X with A X = B, or X A = B if not left; B may be a vector. `lu` and `pivots`
// factor A, or its transpose if not left.
Tensor solve_matrix_backward(const Tensor& grad, const Tensor& a, const Tensor& lu,
                             const Tensor& pivots, const Tensor& x, bool left);
Tensor solve_side_backward(const Tensor& grad, const Tensor& a, const Tensor& lu,
                           const Tensor& pivots, const Tensor& x, bool left);
Tensor inverse_backward(const Tensor& grad, const Tensor& inverse);
Tensor lu_solve_factor_backward(const Tensor& grad, const Tensor& lu, const Tensor& pivots,
                                const Tensor& x, bool left, bool adjoint);
Tensor solve_triangular_backward(const Tensor& grad, const Tensor& a, const Tensor& x, bool upper,
                                 bool left, bool unitriangular);
// Of b, and of A, for the older triangular_solve, which may solve with the transpose of A.
Tensor triangular_solve_side_backward(const Tensor& grad, const Tensor& a, bool upper,
                                      bool transpose, bool unitriangular);
Tensor triangular_solve_backward(const Tensor& grad, const Tensor& grad_copy, const Tensor& a,
                                 const Tensor& x, bool upper, bool transpose, bool unitriangular);
Tensor cholesky_solve_backward(const Tensor& grad, const Tensor& factor, const Tensor& x,
                               bool upper);
Tensor cholesky_inverse_backward(const Tensor& grad, const Tensor& factor, const Tensor& inverse,
                                 bool upper);
Tensor det_backward(const Tensor& grad, const Tensor& a, const Tensor& det);
Tensor slogdet_backward(const Tensor& grad_sign, const Tensor& grad_log, const Tensor& a,
                        const Tensor& sign);
Tensor pinv_backward(const Tensor& grad, const Tensor& pinv, const Tensor& a);
// Of A, and of B, for X = argmin |A X - B|; the residuals are the squared lengths of A X - B.
Tensor lstsq_matrix_backward(const Tensor& grad_x, const Tensor& grad_residuals, const Tensor& a,
                             const Tensor& b, const Tensor& x);
Tensor lstsq_side_backward(const Tensor& grad_x, const Tensor& grad_residuals, const Tensor& a,
                           const Tensor& b, const Tensor& x);

// --- linalg_spectral.cpp

Tensor eigh_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values,
                     const Tensor& vectors);
Tensor eig_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values,
                    const Tensor& vectors);
Tensor svd_backward(const Tensor& grad_u, const Tensor& grad_s, const Tensor& grad_vh,
                    const Tensor& u, const Tensor& s, const Tensor& vh);
Tensor matrix_exp_backward(const Tensor& grad, const Tensor& a);

}  // namespace fb::autograd::formula
