"""Operators that split a tensor into views along a dimension."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor

# Parts without elements that somebody may want; each takes memory and time.
_MOST_EMPTY = 1 << 24


def tensor_split(
    input: Tensor,
    *positional: Any,
    indices: Sequence[int] | None = None,
    sections: int | None = None,
    dim: int = 0,
) -> tuple[Tensor, ...]:
    """Split into ``sections`` nearly equal parts, or before each position in ``indices``.

    The second argument may be positional: an int, a sequence of ints, or a tensor of either kind.
    """
    cuts = _cuts("tensor_split", positional[:1], indices, sections)
    if len(positional) > 1:
        dim = positional[1]
    if input.dim() == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, got one with 0")
    size = input.size(dim)
    if isinstance(cuts, int):
        if cuts <= 0:
            raise RuntimeError(
                f"tensor_split: number of sections must be larger than 0, got {cuts}"
            )
        if cuts > max(size, _MOST_EMPTY):
            raise fb.OutOfMemoryError(
                f"tensor_split: {cuts} parts of {size} elements are more tensors than memory holds"
            )
        small, larger_ones = divmod(size, cuts)
        # The first `size % sections` parts are one longer.
        ends = [small * (i + 1) + min(i + 1, larger_ones) for i in range(cuts)]
    else:
        # Slice rules: negative positions count from the end, positions beyond it are the end.
        # In arithmetic of Python, which sizes of a program that is recorded take part in.
        given = [cut if isinstance(cut, int) else operator.index(cut) for cut in cuts]
        positions = [cut + size if cut < 0 else cut for cut in given]
        ends = [min(max(position, 0), size) for position in positions] + [size]
    starts = [0, *ends[:-1]]
    return tuple(
        input.narrow(dim, start, max(end - start, 0))
        for start, end in zip(starts, ends, strict=True)
    )


def _cuts(name: str, positional: Sequence[Any], indices: Any, sections: Any) -> int | Sequence[int]:
    given = [*positional, *(value for value in (indices, sections) if value is not None)]
    if len(given) != 1:
        raise TypeError(f"{name}() takes either indices or sections, got {len(given)} of them")
    cuts = given[0]
    if isinstance(cuts, Tensor):
        if cuts.dim() > 1:
            raise RuntimeError(f"{name}: expected a 0-d or 1-d tensor of cuts, got {cuts.dim()}-d")
        cuts = cuts.tolist()
    if isinstance(cuts, int) or (
        isinstance(cuts, (list, tuple)) and all(isinstance(cut, int) for cut in cuts)
    ):
        return cuts
    raise TypeError(
        f"{name}(): argument 'indices_or_sections' (position 2) must be int or tuple of ints, "
        f"not {type(cuts).__name__}"
    )


def _even_split(
    name: str, input: Tensor, least_dims: int, dim: int, given: tuple[Any, Any, Any]
) -> tuple[Tensor, ...]:
    positional, indices, sections = given
    if input.dim() < least_dims:
        raise RuntimeError(
            f"{name} requires a tensor with at least {least_dims} dimension, "
            f"got a tensor with {input.dim()} dimensions"
        )
    cuts = _cuts(name, positional, indices, sections)
    if isinstance(cuts, int) and (cuts <= 0 or input.size(dim) % cuts):
        raise RuntimeError(
            f"{name}: size {input.size(dim)} of dimension {dim} is not divisible by {cuts}"
        )
    return tensor_split(input, cuts, dim)


def hsplit(
    input: Tensor,
    *positional: Any,
    indices: Sequence[int] | None = None,
    sections: int | None = None,
) -> tuple[Tensor, ...]:
    """Split along the second dimension (a vector along its only one) into equal or given parts."""
    dim = 0 if input.dim() == 1 else 1
    return _even_split("hsplit", input, 1, dim, (positional, indices, sections))


def vsplit(
    input: Tensor,
    *positional: Any,
    indices: Sequence[int] | None = None,
    sections: int | None = None,
) -> tuple[Tensor, ...]:
    """Split along the first dimension into equal or given parts."""
    return _even_split("vsplit", input, 2, 0, (positional, indices, sections))


def dsplit(
    input: Tensor,
    *positional: Any,
    indices: Sequence[int] | None = None,
    sections: int | None = None,
) -> tuple[Tensor, ...]:
    """Split along the third dimension into equal or given parts."""
    return _even_split("dsplit", input, 3, 2, (positional, indices, sections))
