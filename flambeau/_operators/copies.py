"""Copies of views: ``view_copy`` and the other ``_copy`` operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor

__all__ = ["COPIES", "copying", "sliced"]


def _same(input: Tensor) -> Tensor:
    return input


def sliced(
    input: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """Some of the elements along one dimension."""
    if input.dim() == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if not -input.dim() <= dim < input.dim():
        raise IndexError(
            f"slice: dimension out of range, expected {-input.dim()} to {input.dim() - 1}, "
            f"got {dim}"
        )
    return input[(slice(None),) * (dim % input.dim()) + (slice(start, end, step),)]


def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """Return a copy with ``src`` written to the elements that ``as_strided`` selects."""
    reach = [(n - 1) * step for n, step in zip(input.shape, input.stride(), strict=True)]
    end = input.storage_offset() + sum(reach) + 1 if input.numel() else input.storage_offset()
    offset = input.storage_offset() if storage_offset is None else storage_offset
    places = fb.arange(end, device=input.device).as_strided(size, stride, offset)
    if places.shape != src.shape:
        raise RuntimeError(
            f"as_strided_scatter: src must have the shape {tuple(places.shape)}, "
            f"got {tuple(src.shape)}"
        )
    storage = input.as_strided((end,), (1,), 0)
    # Not in place: under vmap there may be several src for one input.
    written = storage.scatter(0, places.reshape(-1), src.reshape(-1).to(input.dtype))
    return written.as_strided(input.shape, input.stride(), input.storage_offset())


# The views that they copy.
COPIES: dict[str, Callable[..., Any]] = {
    "alias_copy": _same,
    "as_strided_copy": Tensor.as_strided,
    "detach_copy": Tensor.detach,
    "diagonal_copy": Tensor.diagonal,
    "expand_copy": Tensor.expand,
    "narrow_copy": Tensor.narrow,
    "permute_copy": Tensor.permute,
    "select_copy": Tensor.select,
    "slice_copy": sliced,
    "split_copy": Tensor.split,
    "split_with_sizes_copy": Tensor.split,
    "squeeze_copy": Tensor.squeeze,
    "t_copy": Tensor.t,
    "transpose_copy": Tensor.transpose,
    "unbind_copy": Tensor.unbind,
    "unfold_copy": Tensor.unfold,
    "unsqueeze_copy": Tensor.unsqueeze,
    "view_as_complex_copy": fb.view_as_complex,
    "view_as_real_copy": fb.view_as_real,
    "view_copy": Tensor.view,
}


def _copy(view: Tensor) -> Tensor:
    return view.clone(memory_format=fb.contiguous_format)


def copying(name: str) -> Callable[..., Any]:
    """Return the function of a name in ``COPIES``."""
    view = COPIES[name]

    def copied(input: Tensor, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        result = view(input, *args, **kwargs)
        if isinstance(result, Tensor):
            return _copy(result) if out is None else _C._store_result(name, out, _copy(result))
        if out is None:
            return tuple(map(_copy, result))
        if len(out) != len(result):
            raise RuntimeError(f"{name}: out must have {len(result)} tensors, got {len(out)}")
        for each, place in zip(result, out, strict=True):
            _C._store_result(name, place, _copy(each))
        return None

    copied.__name__ = copied.__qualname__ = name
    copied.__doc__ = f"``{name.removesuffix('_copy')}`` in memory of its own."
    return copied
