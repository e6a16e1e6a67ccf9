"""Perspective and elastic warps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.transforms import functional as first
from flambeau.vision.transforms._image import Fill, InterpolationMode
from flambeau.vision.transforms._matrices import perspective_coefficients
from flambeau.vision.transforms.functional._backend import backend
from flambeau.vision.transforms.v2.functional._arguments import Interpolation, mode_of
from flambeau.vision.transforms.v2.functional._boxes import clamped
from flambeau.vision.transforms.v2.functional._dispatch import PIL, PIXELS, functional, kernel
from flambeau.vision.transforms.v2.functional._formats import (
    convert,
    in_float,
    to_corners,
    upright_box,
)
from flambeau.vision.transforms.v2.functional._shift import moved
from flambeau.vision.tv_tensors import (
    BoundingBoxes,
    BoundingBoxFormat,
    KeyPoints,
    Mask,
    is_rotated_bounding_format,
)

__all__ = [
    "elastic",
    "elastic_bounding_boxes",
    "elastic_image",
    "elastic_keypoints",
    "elastic_mask",
    "elastic_transform",
    "perspective",
    "perspective_bounding_boxes",
    "perspective_image",
    "perspective_keypoints",
    "perspective_mask",
]

_Points = Sequence[Sequence[float]] | None
_Numbers = Sequence[float] | None


@functional
def perspective(
    inpt: Any,
    startpoints: _Points,
    endpoints: _Points,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
    coefficients: _Numbers = None,
) -> Any:
    """Warp by a perspective that maps four points (x, y) to others.

    Instead of the points, the eight ``coefficients`` that map a point of the result to its
    position in the image can be given.
    """


def _coefficients(
    startpoints: _Points, endpoints: _Points, coefficients: _Numbers
) -> Sequence[float]:
    if coefficients is not None:
        if startpoints is not None or endpoints is not None:
            raise ValueError(
                "The startpoints/endpoints and the coefficients shouldn't be defined concurrently."
            )
        if len(coefficients) != 8:
            raise ValueError(
                f"Argument coefficients should have 8 float values, got {len(coefficients)}"
            )
        return coefficients
    if startpoints is None or endpoints is None:
        raise ValueError(
            "Either the startpoints/endpoints or the coefficients must have non `None` values."
        )
    return perspective_coefficients(startpoints, endpoints)


@kernel(perspective, *PIXELS, PIL)
def perspective_image(
    image: Any,
    startpoints: _Points,
    endpoints: _Points,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
    coefficients: _Numbers = None,
) -> Any:
    """Warp an image tensor by a perspective."""
    numbers = _coefficients(startpoints, endpoints, coefficients)
    return backend(image).perspective(image, numbers, mode_of(interpolation), fill)


@kernel(perspective, Mask)
def perspective_mask(
    mask: Tensor,
    startpoints: _Points,
    endpoints: _Points,
    fill: Fill = None,
    coefficients: _Numbers = None,
) -> Any:
    """Warp a mask by a perspective, with nearest-neighbour sampling."""
    mode = InterpolationMode.NEAREST
    return perspective_image(mask, startpoints, endpoints, mode, fill, coefficients)


@kernel(perspective, BoundingBoxes)
def perspective_bounding_boxes(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat,
    canvas_size: Sequence[int],
    startpoints: _Points,
    endpoints: _Points,
    coefficients: _Numbers = None,
    clamping_mode: str | None = "soft",
) -> Tensor:
    """Return boxes around the warped boxes of an image."""
    numbers = _inverted(_coefficients(startpoints, endpoints, coefficients))
    return moved(
        bounding_boxes,
        format,
        canvas_size,
        clamping_mode,
        lambda points: _projected(points, numbers),
    )


@kernel(perspective, KeyPoints)
def perspective_keypoints(
    keypoints: Tensor,
    canvas_size: Sequence[int],
    startpoints: _Points,
    endpoints: _Points,
    coefficients: _Numbers = None,
) -> Tensor:
    """Return the warped points of an image."""
    numbers = _inverted(_coefficients(startpoints, endpoints, coefficients))
    return _projected(in_float(keypoints), numbers).to(keypoints.dtype)


def _inverted(coefficients: Sequence[float]) -> list[float]:
    """The nine coefficients of the inverse perspective."""
    a, b, c, d, e, f, g, h = coefficients
    if a * e - b * d == 0:
        raise RuntimeError(
            f"Provided perspective coefficients {list(coefficients)} can not be inverted to "
            "transform points."
        )
    # The adjugate matrix: a common factor makes no difference.
    return [
        e - f * h,
        c * h - b,
        b * f - c * e,
        f * g - d,
        a - c * g,
        c * d - a * f,
        d * h - e * g,
        b * g - a * h,
        a * e - b * d,
    ]


def _projected(points: Tensor, numbers: Sequence[float]) -> Tensor:
    """Map points (..., 2) by a perspective."""
    matrix = points.new_tensor([number / numbers[-1] for number in numbers]).view(3, 3)
    moved_points = points @ matrix[:, :2].t() + matrix[:, 2]
    return moved_points[..., :2] / moved_points[..., 2:]


@functional
def elastic(
    inpt: Any,
    displacement: Tensor,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
) -> Any:
    """Move every pixel by (x, y) of ``displacement`` (1, H, W, 2), in units of half the image.

    Boxes and points move by the negative displacement at their position, which is a good
    approximation for small displacements.
    """


elastic_transform = elastic


@kernel(elastic, *PIXELS, PIL)
def elastic_image(
    image: Any,
    displacement: Tensor,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    fill: Fill = None,
) -> Any:
    """Move every pixel of an image tensor."""
    return first.elastic_transform(image, displacement, mode_of(interpolation), fill)


@kernel(elastic, Mask)
def elastic_mask(mask: Tensor, displacement: Tensor, fill: Fill = None) -> Any:
    """Move every pixel of a mask, with nearest-neighbour sampling."""
    return elastic_image(mask, displacement, InterpolationMode.NEAREST, fill)


@kernel(elastic, BoundingBoxes)
def elastic_bounding_boxes(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat,
    canvas_size: Sequence[int],
    displacement: Tensor,
    clamping_mode: str | None = "soft",
) -> Tensor:
    """Return boxes around the moved corners; rotated boxes move with their centre."""
    _check_displacement(displacement, canvas_size)
    rotated = is_rotated_bounding_format(format)
    plain = BoundingBoxFormat.CXCYWHR if rotated else BoundingBoxFormat.XYXY
    if rotated:
        boxes = convert(bounding_boxes, format, plain)
        center = _displaced(boxes[..., :2].ceil(), displacement)
        boxes = fb.cat((center, boxes[..., 2:]), -1)
    else:
        corners = _displaced(to_corners(bounding_boxes, format).ceil(), displacement)
        boxes = upright_box(corners).view(bounding_boxes.shape).to(bounding_boxes.dtype)
    return convert(clamped(boxes, plain, canvas_size, clamping_mode), plain, format)


@kernel(elastic, KeyPoints)
def elastic_keypoints(
    keypoints: Tensor, canvas_size: Sequence[int], displacement: Tensor
) -> Tensor:
    """Return the moved points."""
    _check_displacement(displacement, canvas_size)
    return _displaced(in_float(keypoints), displacement).to(keypoints.dtype)


def _check_displacement(displacement: Any, canvas_size: Sequence[int]) -> None:
    if not isinstance(displacement, Tensor):
        raise TypeError(f"Argument displacement should be a Tensor, got {type(displacement)}")
    expected = (1, *canvas_size, 2)
    if tuple(displacement.shape) != expected:
        raise ValueError(
            f"Argument displacement shape should be {expected}, but given "
            f"{tuple(displacement.shape)}"
        )


def _displaced(points: Tensor, displacement: Tensor) -> Tensor:
    """Subtract the displacement at each pixel (..., 2); points outside take it from the edge."""
    height, width = displacement.shape[1:3]
    x, y = points.long().unbind(-1)
    x, y = x.clamp(0, width - 1), y.clamp(0, height - 1)
    half = points.new_tensor([width * 0.5, height * 0.5])
    ways = displacement[0].to(points.dtype)[y, x] * half
    return fb.stack((x, y), -1).to(points.dtype) - ways
