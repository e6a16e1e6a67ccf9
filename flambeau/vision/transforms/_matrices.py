"""Coefficients of planar transformations, as Pillow and the tensor kernels take them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import flambeau as fb

__all__ = ["inverse_affine", "perspective_coefficients", "rotated_size"]


def inverse_affine(
    center: Sequence[float],
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Sequence[float],
) -> list[float]:
    """The six coefficients that map a point of the result to its position in the image.

    The image is sheared along y, then along x, rotated, scaled about `center`, then translated.
    """
    rotation, shear_x, shear_y = (math.radians(v) for v in (angle, *shear))
    cos, sin = math.cos(rotation - shear_y), math.sin(rotation - shear_y)
    a = cos / math.cos(shear_y)
    b = -cos * math.tan(shear_x) / math.cos(shear_y) - math.sin(rotation)
    c = sin / math.cos(shear_y)
    d = -sin * math.tan(shear_x) / math.cos(shear_y) + math.cos(rotation)
    # Rotation and shear preserve areas: the inverse needs no determinant.
    rows = [(d / scale, -b / scale), (-c / scale, a / scale)]
    dx, dy = -center[0] - translate[0], -center[1] - translate[1]
    matrix: list[float] = []
    for (x, y), origin in zip(rows, center, strict=True):
        matrix += [x, y, x * dx + y * dy + origin]
    return matrix


def rotated_size(matrix: Sequence[float], width: int, height: int) -> tuple[int, int]:
    """Width and height of the axis-aligned bounding box of a transformed image."""
    x, y = 0.5 * width, 0.5 * height
    corners = fb.tensor([[-x, -y, 1.0], [-x, y, 1.0], [x, y, 1.0], [x, -y, 1.0]])
    moved = corners @ fb.tensor(matrix).view(2, 3).t()
    lowest, highest = moved.amin(0), moved.amax(0)
    # Relative to the centre; rounding errors must not push a corner over the edge of a pixel.
    middle = fb.tensor((x, y))
    lowest, highest = lowest + middle, highest + middle
    lowest = ((lowest / 1e-4).trunc() * 1e-4).floor()
    highest = ((highest / 1e-4).trunc() * 1e-4).ceil()
    columns, rows = (highest - lowest).int().tolist()
    return columns, rows


def perspective_coefficients(
    startpoints: Sequence[Sequence[float]], endpoints: Sequence[Sequence[float]]
) -> list[float]:
    """The eight coefficients of the perspective that maps four end points to their starts."""
    if len(startpoints) != 4 or len(endpoints) != 4:
        raise ValueError(
            f"Please provide exactly four corners, got {len(startpoints)} startpoints and "
            f"{len(endpoints)} endpoints."
        )
    equations, values = [], []
    for (u, v), (x, y) in zip(startpoints, endpoints, strict=True):
        equations.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        equations.append([0, 0, 0, x, y, 1, -v * x, -v * y])
        values += [u, v]
    system = fb.tensor(equations, dtype=fb.float64)
    solution = fb.linalg.lstsq(system, fb.tensor(values, dtype=fb.float64)[:, None])[0]
    coefficients: list[float] = solution.flatten().float().tolist()
    return coefficients
