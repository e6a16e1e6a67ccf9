"""Covariance matrices: Cholesky factors, and Mahalanobis distances.

Names with an underscore are those by which other packages import these functions from PyTorch.
"""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor


def _precision_to_scale_tril(precision: Tensor) -> Tensor:
    """The lower-triangular L with L L^T = precision^-1.

    A Cholesky decomposition from the last row up gives precision = U U^T with U upper triangular,
    and L is the inverse of U^T.
    """
    upper = fb.linalg.cholesky(precision.flip(-2, -1)).flip(-2, -1)
    identity = fb.eye(precision.size(-1), dtype=precision.dtype, device=precision.device)
    return fb.linalg.solve_triangular(upper.mT, identity.expand_as(upper), upper=False)


def _batch_mv(matrix: Tensor, vector: Tensor) -> Tensor:
    """Products of matrices with vectors, broadcast against each other."""
    return (matrix @ vector.unsqueeze(-1)).squeeze(-1)


def log_diagonal(triangle: Tensor) -> Tensor:
    """The log determinant of a triangular matrix."""
    return triangle.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def _batch_mahalanobis(triangle: Tensor, difference: Tensor) -> Tensor:
    """|L^-1 d|^2 for a batch of triangular L and of vectors d that may have more dimensions."""
    batch = triangle.shape[:-2]
    extra = difference.dim() - 1 - len(batch)
    if extra < 0 or difference.shape[extra:-1] != batch:
        solved = fb.linalg.solve_triangular(triangle, difference.unsqueeze(-1), upper=False)
        return solved.square().sum((-2, -1))
    # All vectors of one matrix become columns of one right-hand side, so that it is solved once.
    columns = difference.flatten(0, extra - 1) if extra else difference.unsqueeze(0)
    solved = fb.linalg.solve_triangular(triangle, columns.movedim(0, -1), upper=False)
    return solved.square().sum(-2).movedim(-1, 0).reshape(difference.shape[:-1])
