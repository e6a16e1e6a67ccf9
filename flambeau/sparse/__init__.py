"""Functions of sparse tensors, which ``sparse_coo_tensor`` and ``Tensor.to_sparse`` make."""

from __future__ import annotations

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.sparse._checks import check_sparse_tensor_invariants
from flambeau.sparse._legacy import (
    BFloat16Tensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)

__all__ = [
    "BFloat16Tensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "addmm",
    "check_sparse_tensor_invariants",
    "mm",
    "sum",
]


def addmm(
    mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0
) -> Tensor:
    """Add ``alpha`` times the product of a sparse and a dense matrix to ``beta`` times ``mat``."""
    return mat * beta + mm(mat1, mat2) * alpha


def mm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """Multiply a sparse matrix by a dense one; the gradient of the sparse one is sparse too."""
    return _C._sparse_mm(mat1, mat2) if mat1.is_sparse else fb.mm(mat1, mat2)


def sum(
    input: Tensor,
    dim: int | tuple[int, ...] | None = None,
    dtype: fb.dtype | None = None,
) -> Tensor:
    """Sum a sparse tensor over ``dim``: sparse as long as a sparse dimension is left."""
    if not input.is_sparse:
        raise RuntimeError("sparse.sum: expected a sparse tensor, got a strided one")
    return input.sum(dtype=dtype) if dim is None else input.sum(dim, dtype=dtype)
