"""Histograms of points in several dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor

__all__: list[str] = []


def histogramdd(
    input: Tensor,
    bins: Any,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """Count points, one per row, in the bins between edges, and return the edges too."""
    if input.dim() == 0 and isinstance(bins, int):
        raise IndexError("histogramdd: input has no dimension of coordinates")
    if input.dim() < 2:
        raise RuntimeError(
            f"histogramdd: input needs at least 2 dimensions, got {input.dim()} dimensions"
        )
    dims = input.shape[-1]
    counts = [bins] * dims if isinstance(bins, int) else list(bins)
    if len(counts) != dims:
        raise RuntimeError(
            f"histogramdd: expected bins for each of the {dims} coordinates of a point, "
            f"got {len(counts)}"
        )
    if range is not None and len(range) != 2 * dims:
        raise RuntimeError(f"histogramdd: range must have {2 * dims} numbers, got {len(range)}")
    if weight is not None and weight.shape != input.shape[:-1]:
        raise RuntimeError(
            f"histogramdd: weight must have the shape {tuple(input.shape[:-1])}, "
            f"got {tuple(weight.shape)}"
        )
    points = input.detach().reshape(-1, dims)
    limits = None if range is None else list(zip(range[::2], range[1::2], strict=True))
    edges = [
        each
        if isinstance(each, Tensor)
        else _even_edges(points[:, dim], each, None if limits is None else limits[dim])
        for dim, each in enumerate(counts)
    ]
    hist = _counted(points, edges, None if weight is None else weight.detach().reshape(-1))
    if density:
        hist = hist / hist.sum()
        for dim, each in enumerate(edges):
            hist = hist / each.diff().reshape(-1, *(1,) * (dims - 1 - dim))
    return _C._return_type("histogramdd", ["hist", "bin_edges"])((hist, tuple(edges)))


def _even_edges(values: Tensor, count: int, limits: tuple[float, float] | None) -> Tensor:
    """The bin edges along one coordinate."""
    if count < 1:
        raise RuntimeError(f"histogramdd: expected at least one bin, got {count}")
    edges: Tensor = fb.histogram(values.contiguous(), count, range=limits)[1]
    return edges


def _counted(points: Tensor, edges: list[Tensor], weight: Tensor | None) -> Tensor:
    shape = [max(len(each) - 1, 0) for each in edges]
    place = fb.zeros(len(points), dtype=fb.int64, device=points.device)
    inside = fb.ones(len(points), dtype=fb.bool, device=points.device)
    for dim, (each, size) in enumerate(zip(edges, shape, strict=True)):
        values = points[:, dim].contiguous()
        at = fb.searchsorted(each.contiguous(), values, right=True) - 1
        at = at.masked_fill(values == each[-1], size - 1)  # the last bin includes its upper edge
        inside &= (values >= each[0]) & (values <= each[-1])
        place = place * size + at.clamp(0, size - 1)
    hist = points.new_zeros(shape).reshape(-1)
    added = points.new_ones(len(points)) if weight is None else weight.to(points.dtype)
    return hist.index_add(0, place[inside], added[inside]).reshape(shape)
