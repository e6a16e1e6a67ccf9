"""Rotation, shear, perspective and elastic warps of images."""

from __future__ import annotations

from collections.abc import Sequence

from flambeau import Tensor
from flambeau.vision.transforms._image import (
    Fill,
    Image,
    InterpolationMode,
    dimensions,
    interpolation_of,
)
from flambeau.vision.transforms._matrices import inverse_affine, perspective_coefficients
from flambeau.vision.transforms.functional._backend import backend

__all__ = ["affine", "elastic_transform", "perspective", "rotate"]


def rotate(
    img: Image,
    angle: float,
    interpolation: InterpolationMode | int = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Fill = None,
) -> Image:
    """Rotate an image counter-clockwise by degrees about its centre or a point (x, y).

    ``expand`` makes the result large enough to hold all of the image.
    """
    if not isinstance(angle, (int, float)):
        raise TypeError(f"Argument angle should be int or float, got {angle!r}")
    mode = interpolation_of(interpolation)
    _need_pair("center", center)
    kernels = backend(img)
    if not isinstance(img, Tensor):
        return kernels.rotate(img, angle, mode, expand, center, fill)
    origin = _from_middle(img, center)
    matrix = inverse_affine(origin, -angle, (0.0, 0.0), 1.0, (0.0, 0.0))
    return kernels.rotate(img, matrix, mode, expand, fill)


def affine(
    img: Image,
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: float | Sequence[float],
    interpolation: InterpolationMode | int = InterpolationMode.NEAREST,
    fill: Fill = None,
    center: Sequence[float] | None = None,
) -> Image:
    """Rotate an image clockwise by degrees, translate, scale and shear it."""
    mode = interpolation_of(interpolation)
    if not isinstance(angle, (int, float)):
        raise TypeError(f"Argument angle should be int or float, got {angle!r}")
    if not isinstance(translate, (list, tuple)):
        raise TypeError(f"Argument translate should be a sequence, got {translate!r}")
    _need_pair("translate", translate)
    if scale <= 0.0:
        raise ValueError(f"Argument scale should be positive, got {scale}")
    shears = _shears(shear)
    _need_pair("center", center)
    kernels = backend(img)
    if isinstance(img, Tensor):
        origin: Sequence[float] = _from_middle(img, center)
    else:
        # Pillow counts from the corner of the image, tensors from its centre.
        _, height, width = dimensions(img)
        origin = [width * 0.5, height * 0.5] if center is None else center
    matrix = inverse_affine(origin, angle, translate, scale, shears)
    return kernels.affine(img, matrix, mode, fill)


def _shears(shear: float | Sequence[float]) -> list[float]:
    if isinstance(shear, (int, float)):
        return [shear, 0.0]
    if not isinstance(shear, (list, tuple)):
        raise TypeError(f"Shear should be either a single value or a sequence, got {shear!r}")
    if len(shear) not in (1, 2):
        raise ValueError(f"Shear should be a sequence containing two values. Got {shear}")
    return [shear[0], shear[-1]]


def _need_pair(name: str, value: Sequence[float] | None) -> None:
    if value is not None and len(value) != 2:
        raise ValueError(f"Argument {name} should be a sequence of length 2, got {value}")


def _from_middle(img: Image, center: Sequence[float] | None) -> tuple[float, float]:
    if center is None:
        return 0.0, 0.0
    _, height, width = dimensions(img)
    return center[0] - width * 0.5, center[1] - height * 0.5


def perspective(
    img: Image,
    startpoints: Sequence[Sequence[int]],
    endpoints: Sequence[Sequence[int]],
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    fill: Fill = None,
) -> Image:
    """Warp an image by a perspective that maps four points (x, y) to others."""
    mode = interpolation_of(interpolation)
    coefficients = perspective_coefficients(startpoints, endpoints)
    return backend(img).perspective(img, coefficients, mode, fill)


def elastic_transform(
    img: Image,
    displacement: Tensor,
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    fill: Fill = None,
) -> Image:
    """Move every pixel by (x, y) of ``displacement`` (1, H, W, 2), in units of half the image."""
    mode = interpolation_of(interpolation)
    if not isinstance(displacement, Tensor):
        raise TypeError(f"Argument displacement should be a Tensor, got {type(displacement)}")
    kernels = backend(img)
    _, height, width = dimensions(img)
    if tuple(displacement.shape) != (1, height, width, 2):
        raise ValueError(
            f"Argument displacement shape should be (1, {height}, {width}, 2), but given "
            f"{tuple(displacement.shape)}"
        )
    return kernels.elastic(img, displacement, mode, fill)
