"""Warps of tensors: each pixel of the result is sampled from the image."""

from __future__ import annotations

from collections.abc import Sequence

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.functional import grid_sample
from flambeau.vision.transforms._image import Fill, InterpolationMode
from flambeau.vision.transforms._matrices import rotated_size
from flambeau.vision.transforms._tensor.batch import through_float

__all__ = ["affine", "elastic", "perspective", "rotate"]


def affine(
    img: Tensor, matrix: Sequence[float], interpolation: InterpolationMode, fill: Fill
) -> Tensor:
    height, width = img.shape[-2:]
    return _sample(img, _affine_grid(img, matrix, (height, width)), interpolation, fill)


def rotate(
    img: Tensor,
    matrix: Sequence[float],
    interpolation: InterpolationMode,
    expand: bool,
    fill: Fill,
) -> Tensor:
    height, width = img.shape[-2:]
    size = rotated_size(matrix, width, height) if expand else (width, height)
    return _sample(img, _affine_grid(img, matrix, size[::-1]), interpolation, fill)


def perspective(
    img: Tensor, coefficients: Sequence[float], interpolation: InterpolationMode, fill: Fill
) -> Tensor:
    height, width = img.shape[-2:]
    dtype = img.dtype if img.is_floating_point() else fb.float32
    half = fb.tensor([[0.5 * width], [0.5 * height]], dtype=dtype)
    above = fb.tensor([coefficients[:3], coefficients[3:6]], dtype=dtype) / half
    below = fb.tensor([[*coefficients[6:], 1.0]], dtype=dtype)
    columns = fb.linspace(0.5, width - 0.5, width, dtype=dtype)
    rows = fb.linspace(0.5, height - 0.5, height, dtype=dtype)
    places = _plane(columns, rows, above) / _plane(columns, rows, below) - 1.0
    return _sample(img, places.unsqueeze(0), interpolation, fill)


def elastic(
    img: Tensor, displacement: Tensor, interpolation: InterpolationMode, fill: Fill
) -> Tensor:
    height, width = img.shape[-2:]
    dtype = img.dtype if img.is_floating_point() else fb.float32
    rows = fb.linspace((-height + 1) / height, (height - 1) / height, height, dtype=dtype)
    columns = fb.linspace((-width + 1) / width, (width - 1) / width, width, dtype=dtype)
    straight = fb.stack(fb.meshgrid(columns, rows, indexing="xy"), -1)
    return _sample(img, straight[None] + displacement.to(dtype), interpolation, fill)


def _affine_grid(img: Tensor, matrix: Sequence[float], size: Sequence[int]) -> Tensor:
    """The position in the image (-1 to 1) of each pixel of the result, relative to the centre."""
    height, width = img.shape[-2:]
    rows, columns = size
    dtype = img.dtype if img.is_floating_point() else fb.float32
    half = fb.tensor([[0.5 * width], [0.5 * height]], dtype=dtype)
    theta = fb.tensor(matrix, dtype=dtype).view(2, 3) / half
    x = fb.linspace(0.5 - columns * 0.5, columns * 0.5 - 0.5, columns, dtype=dtype)
    y = fb.linspace(0.5 - rows * 0.5, rows * 0.5 - 0.5, rows, dtype=dtype)
    return _plane(x, y, theta).unsqueeze(0)


def _plane(columns: Tensor, rows: Tensor, forms: Tensor) -> Tensor:
    """Sums `a x + b y + c` at the points of a grid, for each (a, b, c).

    Each product is rounded before it is added, as in PyTorch, so the nearest pixel is the same.
    """
    sums = [(columns * a + (rows * b).unsqueeze(-1)) + c for a, b, c in forms.tolist()]
    return fb.stack(sums, -1)


def _sample(img: Tensor, grid: Tensor, interpolation: InterpolationMode, fill: Fill) -> Tensor:
    if interpolation not in (InterpolationMode.NEAREST, InterpolationMode.BILINEAR):
        raise ValueError(
            "This interpolation mode is unsupported with Tensor input: "
            f"{interpolation.value}; use nearest or bilinear"
        )
    return through_float(
        img, lambda batch: _sample_batch(batch, grid, interpolation, fill), (grid.dtype,)
    )


def _sample_batch(
    batch: Tensor, grid: Tensor, interpolation: InterpolationMode, fill: Fill
) -> Tensor:
    grid = grid.expand(batch.shape[0], *grid.shape[1:])
    if fill is None:
        return _look_up(batch, grid, interpolation)
    # A channel of ones tells how much of each pixel came from inside the image.
    ones = batch.new_ones(batch.shape[0], 1, *batch.shape[2:])
    sampled = _look_up(fb.cat((batch, ones), 1), grid, interpolation)
    result, inside = sampled[:, :-1], sampled[:, -1:]
    values = [float(v) for v in fill] if isinstance(fill, (tuple, list)) else [float(fill)]  # type: ignore[arg-type]
    if len(values) not in (1, batch.shape[1]):
        raise ValueError(
            "The number of elements in 'fill' cannot broadcast to match the number of channels "
            f"of the image ({len(values)} != {batch.shape[1]})"
        )
    ground = batch.new_tensor(values).view(1, -1, 1, 1)
    if interpolation is InterpolationMode.NEAREST:
        return fb.where(inside < 0.5, ground, result)
    return result * inside + (1.0 - inside) * ground


def _look_up(batch: Tensor, grid: Tensor, interpolation: InterpolationMode) -> Tensor:
    return grid_sample(
        batch, grid, mode=interpolation.value, padding_mode="zeros", align_corners=False
    )
