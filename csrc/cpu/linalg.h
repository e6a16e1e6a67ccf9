// Factorisations and solutions of batches of matrices: LAPACK for each.
#pragma once

#include "cpu/isa.h"
#include "kernel/linalg.h"

namespace fb::cpu {

using kernel::LeastSquares;
using kernel::LeastSquaresDriver;
using kernel::Matrices;
using kernel::SvdVectors;
using kernel::TriangularSystem;

FB_DECLARE_SLOT(kernel::Linalg, lu_factor)
FB_DECLARE_SLOT(kernel::Linalg, lu_factor_solve)
FB_DECLARE_SLOT(kernel::Linalg, lu_solve)
FB_DECLARE_SLOT(kernel::Linalg, invert)
FB_DECLARE_SLOT(kernel::Linalg, lu_unpack)
FB_DECLARE_SLOT(kernel::Linalg, pivots_to_permutation)
FB_DECLARE_SLOT(kernel::Linalg, determinant)
FB_DECLARE_SLOT(kernel::Linalg, log_determinant)
FB_DECLARE_SLOT(kernel::Linalg, cholesky_factor)
FB_DECLARE_SLOT(kernel::Linalg, cholesky_solve)
FB_DECLARE_SLOT(kernel::Linalg, cholesky_invert)
FB_DECLARE_SLOT(kernel::Linalg, solve_triangular)
FB_DECLARE_SLOT(kernel::Linalg, qr_factor)
FB_DECLARE_SLOT(kernel::Linalg, qr_columns)
FB_DECLARE_SLOT(kernel::Linalg, qr_triangle)
FB_DECLARE_SLOT(kernel::Linalg, qr_multiply)
FB_DECLARE_SLOT(kernel::Linalg, svd)
FB_DECLARE_SLOT(kernel::Linalg, eigen_hermitian)
FB_DECLARE_SLOT(kernel::Linalg, eigen_general)
FB_DECLARE_SLOT(kernel::Linalg, least_squares)
FB_DECLARE_SLOT(kernel::Linalg, sum_squares_below)

// The matrix i of a batch.
template <class T>
T* matrix_at(const Matrices& m, int64_t i) {
  return static_cast<T*>(m.data) + i * m.rows * m.columns;
}

}  // namespace fb::cpu
