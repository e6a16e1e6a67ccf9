"""Reductions of contiguous segments."""

from __future__ import annotations

import math

import flambeau as fb
from flambeau import _C, Tensor
from flambeau._operators.unrecorded import unrecorded

__all__: list[str] = []

# The result of an empty segment, and the initial value of any.
_STARTS = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}


def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """Reduce segments along ``axis``, given by their lengths or offsets."""
    if reduce not in _STARTS:
        raise RuntimeError(f"segment_reduce: reduce must be one of {list(_STARTS)}, got {reduce!r}")
    if indices is not None or (lengths is None) == (offsets is None):
        raise RuntimeError("segment_reduce: one of lengths and offsets must be given")
    if data.dim() == 0:
        raise RuntimeError("segment_reduce: data must have a dimension")
    if not -data.dim() <= axis < data.dim():
        raise IndexError(f"segment_reduce: axis {axis} is out of range of {data.dim()} dimensions")
    axis = axis % data.dim()
    counts = (offsets.diff(dim=-1) if lengths is None else lengths).to(fb.int64)  # type: ignore[union-attr]
    if counts.shape[:-1] != data.shape[:axis] or counts.dim() != axis + 1:
        raise RuntimeError(
            f"segment_reduce: lengths of shape {tuple(counts.shape)} do not fit data of shape "
            f"{tuple(data.shape)} and axis {axis}"
        )
    is_mapped = any(_C._batch_of(each) is not None for each in (data, counts))
    if not (unsafe or is_mapped):  # under vmap there are no values to check
        with unrecorded():
            if bool((counts < 0).any()):
                raise RuntimeError(f"segment_reduce: a length is negative: {counts.min().item()}")
            if bool((counts.sum(-1) != data.shape[axis]).any()):
                raise RuntimeError(
                    "segment_reduce: lengths must sum to the size of data along axis"
                )
    # One more segment in each row takes what comes after the last.
    segments, rest = counts.shape[-1], data.shape[axis + 1 :]
    places = fb.arange(data.shape[axis], device=data.device)
    positions = places.expand(data.shape[: axis + 1]).contiguous()
    inside = fb.searchsorted(counts.cumsum(-1), positions, right=True).reshape(-1, data.shape[axis])
    rows = fb.arange(len(inside), device=data.device).unsqueeze(-1) * (segments + 1)
    start = _STARTS[reduce] if initial is None else initial
    begun = data.new_full((len(inside) * (segments + 1), *rest), start)
    result = _reduced(reduce, begun, (inside + rows).reshape(-1), data.reshape(-1, *rest))
    result = result.reshape(*data.shape[:axis], segments + 1, *rest).narrow(axis, 0, segments)
    if reduce == "mean":
        sizes = counts.reshape(*counts.shape, *(1,) * len(rest))
        empty = math.nan if initial is None else initial
        result = (result / sizes.clamp(min=1)).masked_fill(sizes == 0, empty)
    return result.contiguous()


def _reduced(reduce: str, start: Tensor, segments: Tensor, elements: Tensor) -> Tensor:
    if reduce in ("sum", "mean"):
        return start.index_add(0, segments, elements)
    kind = {"prod": "prod", "max": "amax", "min": "amin"}[reduce]
    return start.index_reduce(0, segments, elements, kind)
