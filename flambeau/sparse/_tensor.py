"""Sparse tensors from and to other data."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import _C, Tensor


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: fb.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    """Make a sparse tensor of the values at the places that the columns of ``indices`` name.

    Without ``size`` it is as large as the places ask for; ``size`` alone makes one of zeros only.
    Indices are always checked, whatever ``check_invariants`` says.
    """
    if indices is None and values is None and size is not None:
        indices = _C.empty((len(size), 0), dtype=_C.int64)
        values = _C.empty(0, dtype=dtype)
    if indices is None or values is None:
        raise TypeError("sparse_coo_tensor: expected indices and values, or size alone")
    places = _C.as_tensor(indices, device=device).detach().to(_C.int64)
    elements = _C.as_tensor(values, dtype=dtype, device=device)
    if elements.dim() == 0:
        elements = elements.expand(1)
    if size is None:
        size = _needed_size(places, elements)
    if not isinstance(size, (tuple, list)):
        raise TypeError(
            f"sparse_coo_tensor: size must be a tuple of ints, not {type(size).__name__}"
        )
    made = _C._sparse_coo_tensor(places, elements, size, bool(is_coalesced))
    return made.detach().requires_grad_() if requires_grad else made


def _needed_size(indices: Tensor, values: Tensor) -> tuple[int, ...]:
    """The least size that has room for all places."""
    if indices.dim() != 2:
        raise RuntimeError(
            f"sparse_coo_tensor: indices must be sparse_dim x nnz, but got: {list(indices.shape)}"
        )
    if indices.numel() == 0:
        places = [0] * indices.shape[0]
    else:
        places = [int(largest) + 1 for largest in indices.amax(1)]
    return (*places, *values.shape[1:])


def to_sparse(
    input: Tensor,
    sparse_dim: int | None = None,
    *,
    layout: fb.layout | None = None,
    blocksize: Any = None,
    dense_dim: int | None = None,
) -> Tensor:
    """``Tensor.to_sparse``: of a strided tensor, without the blocks that are all zeros."""
    if layout is fb.strided:
        return input.to_dense()
    if layout not in (None, fb.sparse_coo):
        raise NotImplementedError(f"to_sparse: no tensors of layout {layout}; sparse_coo is there")
    if blocksize is not None:
        raise RuntimeError("to_sparse: blocksize is for layouts of blocks, not for sparse_coo")
    if sparse_dim is None:
        sparse_dim = input.sparse_dim() if input.is_sparse else input.dim() - (dense_dim or 0)
    if not input.is_sparse:
        return _C._to_sparse(input, sparse_dim)
    if sparse_dim != input.sparse_dim():
        raise RuntimeError(
            f"to_sparse: a sparse tensor keeps its {input.sparse_dim()} sparse dimensions, "
            f"{sparse_dim} are asked for; use to_dense() first"
        )
    return input


def to_sparse_coo(input: Tensor) -> Tensor:
    """``Tensor.to_sparse_coo``."""
    return to_sparse(input)
