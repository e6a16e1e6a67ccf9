"""Distinct elements, with optional results."""

from __future__ import annotations

from typing import Any

from flambeau import _C, Tensor


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements in order, and on request the inverse and the counts."""
    if dim is None and not (return_inverse or return_counts):
        return _C._distinct(input, False)
    return _requested(_C._unique(input, False, dim), return_inverse, return_counts)


def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The elements that differ from the one before, and on request the inverse and the counts."""
    if dim is None and not (return_inverse or return_counts):
        return _C._distinct(input, True)
    return _requested(_C._unique(input, True, dim), return_inverse, return_counts)


def _requested(
    found: tuple[Tensor, Tensor, Tensor], return_inverse: bool, return_counts: bool
) -> Tensor | tuple[Tensor, ...]:
    values, inverse, counts = found
    if not (return_inverse or return_counts):
        return values
    return (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))
