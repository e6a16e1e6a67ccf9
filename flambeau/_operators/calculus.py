"""Integrals and derivatives of sampled functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float = 1, dim: int = -1) -> Tensor:
    """Integrate ``y`` along ``dim`` by the trapezoidal rule, at points ``x`` or ``dx`` apart."""
    if y.size(dim) == 0:
        return y.sum(dim).to(y.dtype)
    return _areas("trapezoid", y, x, dx, dim).sum(dim)


def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float = 1, dim: int = -1
) -> Tensor:
    """The integral up to each point but the first, by the trapezoidal rule."""
    return _areas("cumulative_trapezoid", y, x, dx, dim).cumsum(dim)


def _areas(name: str, y: Tensor, x: Tensor | None, dx: float, dim: int) -> Tensor:
    """The area of the trapezoid between each point and the next."""
    if y.dtype == fb.bool or (x is not None and x.dtype == fb.bool):
        raise RuntimeError(f"{name}: received a bool input, which is not supported")
    count = y.size(dim) - 1
    if count < 0:
        return y
    heights = y.narrow(dim, 0, count) + y.narrow(dim, 1, count)
    if x is None:
        return heights * (dx / 2)
    if x.dim() == 1:
        if x.numel() != y.size(dim):
            raise RuntimeError(
                f"{name}: there must be one x value for each sample point, got "
                f"{x.numel()} for {y.size(dim)}"
            )
        widths = x[1:] - x[:-1]
        if y.dim() > 1:
            shape = [1] * y.dim()
            shape[dim] = count
            widths = widths.reshape(shape)
    else:
        points = x.size(dim) - 1
        widths = x.narrow(dim, 1, points) - x.narrow(dim, 0, points)
    return heights * widths / 2


def gradient(
    input: Tensor, *, spacing: Any = 1, dim: int | Sequence[int] | None = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """Estimate the derivative along each dimension by central differences.

    ``spacing`` is the distance between samples, for all dimensions or one for each, or a tensor of
    coordinates for each. ``edge_order`` 1 or 2 chooses the accuracy of the two outermost samples.
    """
    if edge_order not in (1, 2):
        raise RuntimeError(f"gradient: edge_order must be 1 or 2, got {edge_order}")
    dims = range(input.dim()) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if len({each % max(input.dim(), 1) for each in dims}) < len(dims):
        raise RuntimeError(f"gradient: a dimension appears multiple times in dim={list(dims)}")
    spacings = _spacings(1 if spacing is None else spacing, len(dims))
    return tuple(
        _derivative(input, along, step, edge_order)
        for along, step in zip(dims, spacings, strict=True)
    )


def _spacings(spacing: Any, count: int) -> list[Any]:
    if isinstance(spacing, (int, float, complex)):
        return [spacing] * count
    spacings = list(spacing)
    if len(spacings) != count:
        raise RuntimeError(
            f"gradient: expected one spacing for each of {count} dimensions, got {len(spacings)}"
        )
    return spacings


def _derivative(input: Tensor, dim: int, spacing: Any, edge_order: int) -> Tensor:
    count = input.size(dim)
    if count < edge_order + 1:
        raise RuntimeError(
            f"gradient: each dimension must have at least edge_order + 1 = {edge_order + 1} "
            f"samples, got {count}"
        )
    has_fractions = input.dtype.is_floating_point or input.dtype.is_complex
    shape = [1] * input.dim()
    shape[dim] = count - 1
    if isinstance(spacing, Tensor):
        if spacing.dim() != 1 or spacing.numel() != count:
            raise RuntimeError(
                f"gradient: expected {count} coordinates for dimension {dim}, "
                f"got {tuple(spacing.shape)}"
            )
        steps = (spacing[1:] - spacing[:-1]).reshape(shape)
    else:
        kind = input.dtype if has_fractions else fb.get_default_dtype()
        steps = fb.full(shape, spacing, dtype=kind, device=input.device)

    def samples(start: int, length: int = 1) -> Tensor:
        return input.narrow(dim, start % count, length)

    slopes = (samples(1, count - 1) - samples(0, count - 1)) / steps

    def slope(start: int, length: int = 1) -> Tensor:
        return slopes.narrow(dim, start % (count - 1), length)

    def step(start: int, length: int = 1) -> Tensor:
        return steps.narrow(dim, start % (count - 1), length)

    first, last = slope(0), slope(-1)
    if edge_order == 2:
        # Extrapolate the two outermost slopes linearly to the edge.
        first = first + (slope(0) - slope(1)) * step(0) / (step(0) + step(1))
        last = last + (slope(-1) - slope(-2)) * step(-1) / (step(-1) + step(-2))
    if count == 2:
        return fb.cat([first, last], dim)
    left, right = samples(0, count - 2), samples(2, count - 2)
    if not isinstance(spacing, Tensor):
        # The sample itself does not count, so that an infinite one affects only its neighbours.
        return fb.cat([first, (right - left) / (2 * spacing), last], dim)
    before, after = step(0, count - 2), step(1, count - 2)
    # Weighted so that a parabola is exact for unevenly spaced samples.
    inner = (
        right * (before / (after * (before + after)))
        + samples(1, count - 2) * ((after - before) / (before * after))
        - left * (after / (before * (before + after)))
    )
    return fb.cat([first, inner, last], dim)
