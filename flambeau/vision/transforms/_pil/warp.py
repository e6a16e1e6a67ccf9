"""Affine and perspective warps of PIL images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flambeau import Tensor
from flambeau.vision._pillow import pillow
from flambeau.vision.transforms import _tensor
from flambeau.vision.transforms._image import Fill, InterpolationMode, pil_number
from flambeau.vision.transforms._pil.convert import through_tensor
from flambeau.vision.transforms._pil.ground import ground_of

__all__ = ["affine", "elastic", "perspective", "rotate"]


def affine(img: Any, matrix: Sequence[float], interpolation: InterpolationMode, fill: Fill) -> Any:
    return _transform(img, pillow().Transform.AFFINE, matrix, interpolation, fill)


def perspective(
    img: Any, coefficients: Sequence[float], interpolation: InterpolationMode, fill: Fill
) -> Any:
    return _transform(img, pillow().Transform.PERSPECTIVE, coefficients, interpolation, fill)


def rotate(
    img: Any,
    angle: float,
    interpolation: InterpolationMode,
    expand: bool,
    center: Sequence[float] | None,
    fill: Fill,
) -> Any:
    """Rotate an image counter-clockwise, with Pillow's own rule for the size of the result."""
    return img.rotate(
        angle, pil_number(interpolation), expand, center, fillcolor=ground_of(img, fill)
    )


def elastic(img: Any, displacement: Tensor, interpolation: InterpolationMode, fill: Fill) -> Any:
    return through_tensor(
        img, lambda tensor: _tensor.elastic(tensor, displacement, interpolation, fill)
    )


def _transform(
    img: Any, kind: int, numbers: Sequence[float], interpolation: InterpolationMode, fill: Fill
) -> Any:
    color = ground_of(img, fill)
    return img.transform(img.size, kind, numbers, pil_number(interpolation), fillcolor=color)
