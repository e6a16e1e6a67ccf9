"""The largest singular values of a matrix, from random samples of its range.

N. Halko, P. Martinsson and J. Tropp, "Finding structure with randomness" (2009), algorithms 4.4 and
5.1: an orthonormal basis of the range, sharpened by subspace iteration, and a small exact problem.
"""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor

__all__ = ["get_approximate_basis", "pca_lowrank", "svd_lowrank"]

_Factors = tuple[Tensor, Tensor, Tensor]


def get_approximate_basis(
    A: Tensor, q: int, niter: int | None = 2, M: Tensor | None = None
) -> Tensor:
    """Return ``q`` orthonormal columns that nearly span the range of ``A - M``."""
    if M is not None:
        A = A - M
    basis = _orthonormal(A @ fb.randn(A.shape[-1], q, dtype=A.dtype, device=A.device))
    for _ in range(2 if niter is None else niter):
        basis = _orthonormal(A @ _orthonormal(A.mH @ basis))
    return basis


def _orthonormal(columns: Tensor) -> Tensor:
    return fb.linalg.qr(columns)[0]


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> _Factors:
    """Approximate singular value decomposition of low rank, by random projections.

    A - M ≈ U diag(S) V^H

    Args:
        A: Matrix, or batch of matrices, (*, m, n).
        q: Rank. Default: 6.
        niter: Number of iterations that improve it. Default: 2.
        M: Matrix to subtract first. Default: None.

    Returns:
        A tuple (U, S, V).

    Example:
        >>> A = torch.outer(torch.arange(1.0, 4.0), torch.ones(4))
        >>> U, S, V = torch.svd_lowrank(A, q=1)
        >>> torch.allclose(U @ S.diag() @ V.T, A, atol=1e-4)
        True

    See also:
        `torch.linalg.svd`, `torch.pca_lowrank`.
    """
    if M is not None:
        A = A - M.expand(A.shape)
    columns = 6 if q is None else q
    if A.shape[-2] < A.shape[-1]:
        v, s, u = svd_lowrank(A.mH, columns, niter)
        return u, s, v
    basis = get_approximate_basis(A, columns, niter)
    u, s, vh = fb.linalg.svd(basis.mH @ A, full_matrices=False)
    return basis @ u, s, vh.mH


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> _Factors:
    """Principal component analysis of the rows of a matrix, by random projections.

    `A @ V[:, :k]` are the first k components.

    Args:
        A: Matrix, or batch of matrices, (*, m, n).
        q: Number of components. Default: the smallest of 6, m and n.
        center: Whether to subtract the mean of the rows. Default: True.
        niter: Number of iterations that improve it. Default: 2.

    Returns:
        A tuple (U, S, V).

    Example:
        >>> U, S, V = torch.pca_lowrank(torch.randn(20, 5), q=2)
        >>> U.shape, S.shape, V.shape
        (torch.Size([20, 2]), torch.Size([2]), torch.Size([5, 2]))
    """
    least = min(A.shape[-2:])
    columns = min(6, least) if q is None else q
    if not 0 <= columns <= least:
        raise ValueError(
            f"q(={columns}) must be non-negative integer and not greater than min(m, n)={least}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center:
        A = A - A.mean(dim=-2, keepdim=True)
    return svd_lowrank(A, columns, niter)
