// Factorisations of batches of matrices, and solutions by them.
#pragma once

#include "cuda/slots.h"
#include "kernel/linalg.h"

namespace fb::cuda {

FB_DECLARE_CUDA(kernel::Linalg, lu_factor)
FB_DECLARE_CUDA(kernel::Linalg, lu_factor_solve)
FB_DECLARE_CUDA(kernel::Linalg, lu_solve)
FB_DECLARE_CUDA(kernel::Linalg, invert)
FB_DECLARE_CUDA(kernel::Linalg, lu_unpack)
FB_DECLARE_CUDA(kernel::Linalg, pivots_to_permutation)
FB_DECLARE_CUDA(kernel::Linalg, determinant)
FB_DECLARE_CUDA(kernel::Linalg, log_determinant)
FB_DECLARE_CUDA(kernel::Linalg, cholesky_factor)
FB_DECLARE_CUDA(kernel::Linalg, cholesky_solve)
FB_DECLARE_CUDA(kernel::Linalg, cholesky_invert)
FB_DECLARE_CUDA(kernel::Linalg, solve_triangular)
FB_DECLARE_CUDA(kernel::Linalg, qr_factor)
FB_DECLARE_CUDA(kernel::Linalg, qr_columns)
FB_DECLARE_CUDA(kernel::Linalg, qr_triangle)
FB_DECLARE_CUDA(kernel::Linalg, qr_multiply)
FB_DECLARE_CUDA(kernel::Linalg, svd)
FB_DECLARE_CUDA(kernel::Linalg, eigen_hermitian)
FB_DECLARE_CUDA(kernel::Linalg, eigen_general)
FB_DECLARE_CUDA(kernel::Linalg, least_squares)
FB_DECLARE_CUDA(kernel::Linalg, sum_squares_below)

}  // namespace fb::cuda
