"""Rotation, translation, scaling and shear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.transforms import functional as first
from flambeau.vision.transforms._image import Fill, InterpolationMode
from flambeau.vision.transforms._matrices import inverse_affine, rotated_size
from flambeau.vision.transforms.functional._warp import _shears
from flambeau.vision.transforms.v2.functional._arguments import Interpolation, mode_of
from flambeau.vision.transforms.v2.functional._dispatch import PIL, PIXELS, functional, kernel
from flambeau.vision.transforms.v2.functional._formats import in_float
from flambeau.vision.transforms.v2.functional._shift import moved
from flambeau.vision.tv_tensors import BoundingBoxes, BoundingBoxFormat, KeyPoints, Mask

__all__ = [
    "affine",
    "affine_bounding_boxes",
    "affine_image",
    "affine_keypoints",
    "affine_mask",
    "rotate",
    "rotate_bounding_boxes",
    "rotate_image",
    "rotate_keypoints",
    "rotate_mask",
]

_Center = Sequence[float] | None
_Shear = float | Sequence[float]


@functional
def affine(
    inpt: Any,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: _Shear,
    interpolation: Interpolation = InterpolationMode.NEAREST,
    fill: Fill = None,
    center: _Center = None,
) -> Any:
    """Rotate clockwise by degrees, translate, scale and shear."""


@kernel(affine, *PIXELS, PIL)
def affine_image(
    image: Any,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: _Shear,
    interpolation: Interpolation = InterpolationMode.NEAREST,
    fill: Fill = None,
    center: _Center = None,
) -> Any:
    """Rotate, translate, scale and shear an image tensor."""
    mode = mode_of(interpolation)
    return first.affine(image, angle, list(translate), scale, shear, mode, fill, center)


@kernel(affine, Mask)
def affine_mask(
    mask: Tensor,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: _Shear,
    fill: Fill = None,
    center: _Center = None,
) -> Any:
    """Rotate, translate, scale and shear a mask, with nearest-neighbour sampling."""
    return affine_image(mask, angle, translate, scale, shear, fill=fill, center=center)


@kernel(affine, BoundingBoxes)
def affine_bounding_boxes(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat,
    canvas_size: Sequence[int],
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: _Shear,
    center: _Center = None,
    clamping_mode: str | None = "soft",
) -> Tensor:
    """Return boxes around the transformed boxes of an image."""
    matrix = _forward(canvas_size, angle, translate, scale, shear, center)
    boxes = moved(
        in_float(bounding_boxes),
        format,
        canvas_size,
        clamping_mode,
        lambda points: _transformed(points, matrix),
    )
    return boxes.to(bounding_boxes.dtype)


@kernel(affine, KeyPoints)
def affine_keypoints(
    keypoints: Tensor,
    canvas_size: Sequence[int],
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: _Shear,
    center: _Center = None,
) -> Tensor:
    """Return the transformed points of an image."""
    matrix = _forward(canvas_size, angle, translate, scale, shear, center)
    return _transformed(in_float(keypoints), matrix).to(keypoints.dtype)


def _forward(
    canvas_size: Sequence[int],
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: _Shear,
    center: _Center,
) -> list[float]:
    """The six coefficients that map a point of an image to its position in the result."""
    height, width = canvas_size
    origin = [width * 0.5, height * 0.5] if center is None else center
    a, b, c, d, e, f = inverse_affine(origin, angle, translate, scale, _shears(shear))
    determinant = a * e - b * d
    p, q, r, s = e / determinant, -b / determinant, -d / determinant, a / determinant
    return [p, q, -p * c - q * f, r, s, -r * c - s * f]


def _transformed(points: Tensor, matrix: Sequence[float]) -> Tensor:
    """Transform points (..., 2)."""
    numbers = points.new_tensor(matrix).view(2, 3)
    return points @ numbers[:, :2].t() + numbers[:, 2]


@functional
def rotate(
    inpt: Any,
    angle: float,
    interpolation: Interpolation = InterpolationMode.NEAREST,
    expand: bool = False,
    center: _Center = None,
    fill: Fill = None,
) -> Any:
    """Rotate counter-clockwise by degrees about the centre or a point (x, y).

    ``expand`` makes the result large enough to hold all of it.
    """


@kernel(rotate, *PIXELS, PIL)
def rotate_image(
    image: Any,
    angle: float,
    interpolation: Interpolation = InterpolationMode.NEAREST,
    expand: bool = False,
    center: _Center = None,
    fill: Fill = None,
) -> Any:
    """Rotate an image tensor."""
    # Full turns make no difference.
    return first.rotate(image, angle % 360, mode_of(interpolation), expand, center, fill)


@kernel(rotate, Mask)
def rotate_mask(
    mask: Tensor, angle: float, expand: bool = False, center: _Center = None, fill: Fill = None
) -> Any:
    """Rotate a mask, with nearest-neighbour sampling."""
    return rotate_image(mask, angle, InterpolationMode.NEAREST, expand, center, fill)


@kernel(rotate, BoundingBoxes)
def rotate_bounding_boxes(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat,
    canvas_size: Sequence[int],
    angle: float,
    expand: bool = False,
    center: _Center = None,
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, tuple[int, int]]:
    """Return boxes around the rotated boxes of an image, and the size of the result."""
    matrix, new_size = _rotation(canvas_size, angle, expand, center)
    boxes = moved(
        in_float(bounding_boxes),
        format,
        new_size,
        clamping_mode,
        lambda points: _transformed(points, matrix),
    )
    return boxes.to(bounding_boxes.dtype), new_size


@kernel(rotate, KeyPoints)
def rotate_keypoints(
    keypoints: Tensor,
    canvas_size: Sequence[int],
    angle: float,
    expand: bool = False,
    center: _Center = None,
) -> tuple[Tensor, tuple[int, int]]:
    """Return the rotated points of an image, and the size of the result."""
    matrix, new_size = _rotation(canvas_size, angle, expand, center)
    return _transformed(in_float(keypoints), matrix).to(keypoints.dtype), new_size


def _rotation(
    canvas_size: Sequence[int], angle: float, expand: bool, center: _Center
) -> tuple[list[float], tuple[int, int]]:
    """The coefficients of a rotation, and the size of the rotated image."""
    height, width = canvas_size
    matrix = _forward(canvas_size, -angle, (0.0, 0.0), 1.0, (0.0, 0.0), center)
    if not expand:
        return matrix, (height, width)
    # All of the image is shown whatever it was rotated about: it moves back to its corner.
    edges = fb.tensor([[0.0, 0.0], [width, 0.0], [width, height], [0.0, height]])
    left, top = _transformed(edges, matrix).amin(0).tolist()
    matrix[2] -= left
    matrix[5] -= top
    x, y = (width * 0.5, height * 0.5) if center is None else center
    origin = x - width * 0.5, y - height * 0.5
    inverse = inverse_affine(origin, -angle, (0.0, 0.0), 1.0, (0.0, 0.0))
    columns, rows = rotated_size(inverse, width, height)
    return matrix, (rows, columns)
