"""Rows in two forms: one number for each element, or the place at which each row begins."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor

__all__: list[str] = []


def _convert_indices_from_coo_to_csr(
    input: Tensor, size: int, *, out_int32: bool = False
) -> Tensor:
    """Where each of ``size`` rows begins among sorted numbers of rows, and where the last ends."""
    rows = fb.arange(size + 1, dtype=input.dtype)
    return fb.searchsorted(input.contiguous(), rows, out_int32=out_int32)


def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """The row and the column of each element, of where rows begin; swapped if ``transpose``."""
    rows = fb.arange(crow_indices.shape[0] - 1).repeat_interleave(crow_indices.diff())
    dtype = fb.int32 if out_int32 else fb.int64
    places = (col_indices, rows) if transpose else (rows, col_indices)
    return fb.stack([each.to(dtype) for each in places])
