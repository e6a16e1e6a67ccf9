"""Operators that reshape, broadcast and join tensors, composed of ``cat`` and views."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor


def _each(function: Any, tensors: tuple[Any, ...]) -> Any:
    """Apply to one tensor, or to each of several given one by one or in a sequence."""
    if len(tensors) == 1 and not isinstance(tensors[0], (list, tuple)):
        return function(tensors[0])
    return tuple(function(tensor) for tensor in _unpacked(tensors))


def _unpacked(tensors: tuple[Any, ...]) -> tuple[Any, ...]:
    """``f(a, b)`` and ``f([a, b])`` mean the same."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        return tuple(tensors[0])
    return tensors


def _refuse_others(name: str, tensors: Sequence[Any]) -> None:
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"{name}(): expected Tensor as element {position}, got {type(tensor).__name__}"
            )


def atleast_1d(*tensors: Any) -> Any:
    """View 0-d tensors as 1-d ones; others stay as they are."""
    _refuse_others("atleast_1d", _unpacked(tensors))
    return _each(lambda tensor: tensor.reshape(1) if tensor.dim() == 0 else tensor, tensors)


def atleast_2d(*tensors: Any) -> Any:
    """View tensors of fewer than two dimensions as one row."""
    _refuse_others("atleast_2d", _unpacked(tensors))

    def lift(tensor: Tensor) -> Tensor:
        if tensor.dim() == 0:
            return tensor.reshape(1, 1)
        return tensor.unsqueeze(0) if tensor.dim() == 1 else tensor

    return _each(lift, tensors)


def atleast_3d(*tensors: Any) -> Any:
    """View tensors as 3-d: ``n`` becomes ``(1, n, 1)`` and ``(m, n)`` becomes ``(m, n, 1)``."""
    _refuse_others("atleast_3d", _unpacked(tensors))

    def lift(tensor: Tensor) -> Tensor:
        if tensor.dim() == 0:
            return tensor.reshape(1, 1, 1)
        if tensor.dim() == 1:
            tensor = tensor.unsqueeze(0)
        return tensor.unsqueeze(-1) if tensor.dim() == 2 else tensor

    return _each(lift, tensors)


def _stackable(name: str, tensors: Any) -> Sequence[Tensor]:
    if isinstance(tensors, Tensor) or not isinstance(tensors, (list, tuple)):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, "
            f"not {type(tensors).__name__}"
        )
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    _refuse_others(name, tensors)
    return tensors


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join along the second dimension, or along the first if there is only one."""
    lifted = atleast_1d(list(_stackable("hstack", tensors)))
    return fb.cat(lifted, dim=0 if lifted[0].dim() == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join along the first dimension; 1-d tensors are rows."""
    return fb.cat(atleast_2d(list(_stackable("vstack", tensors))), dim=0)


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join along the third dimension, after ``atleast_3d``."""
    return fb.cat(atleast_3d(list(_stackable("dstack", tensors))), dim=2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Join along the second dimension; tensors of fewer than two dimensions are columns."""
    columns = [
        tensor.reshape(-1, 1) if tensor.dim() < 2 else tensor
        for tensor in _stackable("column_stack", tensors)
    ]
    return fb.cat(columns, dim=1)


def block_diag(*tensors: Any) -> Tensor:
    """Put matrices on the diagonal of a matrix of zeros; a vector counts as one row."""
    tensors = _unpacked(tensors)
    _refuse_others("block_diag", tensors)
    if not tensors:
        return fb.empty(1, 0)
    dtype = tensors[0].dtype
    for position, tensor in enumerate(tensors):
        if tensor.dim() > 2:
            raise RuntimeError(
                "block_diag: input tensors must have 2 or fewer dimensions, "
                f"input {position} has {tensor.dim()} dimensions"
            )
        dtype = fb.promote_types(dtype, tensor.dtype)
    blocks = atleast_2d(list(tensors))
    width = sum(block.shape[1] for block in blocks)
    rows = []
    column = 0
    for block in blocks:
        left = block.new_zeros(block.shape[0], column, dtype=dtype)
        column += block.shape[1]
        right = block.new_zeros(block.shape[0], width - column, dtype=dtype)
        rows.append(fb.cat([left, block.to(dtype), right], 1))
    return fb.cat(rows)


def broadcast_shapes(*shapes: Any) -> fb.Size:
    """Return the shape that tensors of these shapes broadcast to. An int stands for one size."""
    result: list[int] = []
    for position, shape in enumerate(shapes):
        sizes = [shape] if isinstance(shape, int) else list(shape)
        result[:0] = [1] * (len(sizes) - len(result))
        for dim in range(-1, -len(sizes) - 1, -1):
            size = sizes[dim]
            if size < 0 or (size != 1 and result[dim] not in (1, size)):
                raise RuntimeError(
                    f"broadcast_shapes: shape {tuple(sizes)} at position {position} does not "
                    f"broadcast to {tuple(result)} at dimension {dim}"
                )
            if size != 1:
                result[dim] = size
    return fb.Size(result)


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Views of the tensors, expanded to the shape they broadcast to."""
    tensors = _unpacked(tensors)
    _refuse_others("broadcast_tensors", tensors)
    shape = broadcast_shapes(*(tensor.shape for tensor in tensors))
    return tuple(tensor.expand(shape) for tensor in tensors)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Expand 1-d tensors to the grids of their coordinates.

    With ``indexing="ij"`` dimension ``k`` of each grid follows tensor ``k``; with ``"xy"`` the
    first two dimensions are swapped.
    """
    tensors = _unpacked(tensors)
    _refuse_others("meshgrid", tensors)
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'meshgrid: indexing must be one of "xy" or "ij", got {indexing!r}')
    for tensor in tensors:
        if tensor.dim() > 1:
            raise RuntimeError(f"meshgrid: expected 0-d or 1-d tensors, got {tuple(tensor.shape)}")
        if tensor.dtype != tensors[0].dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
        if tensor.device != tensors[0].device:
            raise RuntimeError("meshgrid expects all tensors to have the same device")
    shape = [tensor.numel() for tensor in tensors]
    grids = [
        tensor.reshape([-1 if dim == k else 1 for dim in range(len(shape))]).expand(shape)
        for k, tensor in enumerate(tensors)
    ]
    if indexing == "xy" and len(grids) > 1:
        grids = [grid.transpose(0, 1) for grid in grids]
    return tuple(grids)


def cartesian_prod(*tensors: Any) -> Tensor:
    """Every combination of one element from each tensor, one per row."""
    tensors = _unpacked(tensors)
    _refuse_others("cartesian_prod", tensors)
    for tensor in tensors:
        if tensor.dim() != 1:
            raise RuntimeError(f"cartesian_prod: expected 1-d tensors, got {tuple(tensor.shape)}")
    if len(tensors) == 1:
        only: Tensor = tensors[0]
        return only
    return fb.stack([grid.flatten() for grid in meshgrid(*tensors)], dim=1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Every combination of ``r`` elements in the order of the tensor, one per row."""
    if input.dim() != 1:
        raise RuntimeError(f"combinations: expected a 1-d tensor, got {tuple(input.shape)}")
    if r < 0:
        raise RuntimeError(f"combinations: expected a non-negative number r, got {r}")
    if r == 0:
        return input.new_empty(0)
    grids = meshgrid(*[fb.arange(input.numel(), device=input.device)] * r)
    chosen = fb.ones_like(grids[0], dtype=fb.bool)
    for before, after in itertools.pairwise(grids):
        chosen = chosen & (before <= after if with_replacement else before < after)
    return fb.stack([input[grid[chosen]] for grid in grids], dim=1)
