"""Resizing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.functional import interpolate
from flambeau.vision.transforms import functional as first
from flambeau.vision.transforms._image import InterpolationMode
from flambeau.vision.transforms._tensor.batch import through_float
from flambeau.vision.transforms.functional._geometry import _resized
from flambeau.vision.transforms.v2.functional._arguments import Interpolation, mode_of
from flambeau.vision.transforms.v2.functional._dispatch import PIL, PIXELS, functional, kernel
from flambeau.vision.transforms.v2.functional._formats import in_float
from flambeau.vision.transforms.v2.functional._shift import moved
from flambeau.vision.tv_tensors import (
    BoundingBoxes,
    BoundingBoxFormat,
    KeyPoints,
    Mask,
    is_rotated_bounding_format,
)

__all__ = [
    "resize",
    "resize_bounding_boxes",
    "resize_image",
    "resize_keypoints",
    "resize_mask",
]

_Size = int | Sequence[int] | None
_SMOOTH = ("bilinear", "bicubic", "lanczos")
_NEAREST = ("nearest", "nearest-exact")


@functional
def resize(
    inpt: Any,
    size: _Size,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:
    """Resize to (height, width), or the shorter side to one number.

    The longer side is then at most ``max_size``; with None for the size it is ``max_size``.
    """


def _new_size(canvas_size: Sequence[int], size: _Size, max_size: int | None) -> list[int]:
    height, width = canvas_size
    if size is not None:
        return _resized(height, width, size, max_size)
    if not isinstance(max_size, int):
        raise ValueError(f"max_size must be an integer when size is None, but got {max_size}")
    if height > width:
        return [max_size, int(max_size * width / height)]
    return [int(max_size * height / width), max_size]


@kernel(resize, *PIXELS)
def resize_image(
    image: Tensor,
    size: _Size,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Tensor:
    """Resize an image tensor."""
    mode = mode_of(interpolation).value
    wanted = _new_size(image.shape[-2:], size, max_size)
    if wanted == list(image.shape[-2:]):
        return image
    if mode not in _SMOOTH + _NEAREST:
        raise NotImplementedError(
            f"This interpolation mode is unsupported with Tensor input: {mode}; use "
            f"{', '.join(_NEAREST + _SMOOTH)}"
        )
    if image.numel() == 0:
        return image.reshape(*image.shape[:-2], *wanted)  # no pixels from no pixels, or an error
    smooth = mode in _SMOOTH

    def scale(batch: Tensor) -> Tensor:
        return interpolate(
            batch,
            size=tuple(wanted),
            mode=mode,
            align_corners=False if mode in _SMOOTH[:2] else None,
            antialias=smooth and bool(antialias),
        )

    return through_float(image, scale, (fb.float32, fb.float64, fb.uint8))


@kernel(resize, PIL)
def _resize_pil(
    image: Any,
    size: _Size,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
) -> Any:
    wanted = _new_size((image.height, image.width), size, max_size)
    return first.resize(image, wanted, mode_of(interpolation))


@kernel(resize, Mask)
def resize_mask(
    mask: Tensor,
    size: _Size,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    max_size: int | None = None,
) -> Tensor:
    """Resize a mask, with nearest-neighbour sampling."""
    exact = mode_of(interpolation) is InterpolationMode.NEAREST_EXACT
    mode = InterpolationMode.NEAREST_EXACT if exact else InterpolationMode.NEAREST
    if mask.dtype == fb.bool:  # bytes need no detour through floating point
        return resize_image(mask.view(fb.uint8), size, mode, max_size).view(fb.bool)
    return resize_image(mask, size, mode, max_size)


@kernel(resize, BoundingBoxes)
def resize_bounding_boxes(
    bounding_boxes: Tensor,
    canvas_size: Sequence[int],
    size: _Size,
    max_size: int | None = None,
    format: BoundingBoxFormat = BoundingBoxFormat.XYXY,
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, tuple[int, int]]:
    """Resize boxes with their image, and return its new size too."""
    new_size, ratios = _ratios(canvas_size, size, max_size)
    if is_rotated_bounding_format(format):
        scaled = moved(
            bounding_boxes,
            format,
            new_size,
            clamping_mode,
            lambda points: points * points.new_tensor(ratios),
        )
        return scaled, new_size
    # Axis-aligned boxes stay as far inside the image as they were: there is nothing to clamp.
    exact = in_float(bounding_boxes)
    return (exact * exact.new_tensor(ratios * 2)).to(bounding_boxes.dtype), new_size


@kernel(resize, KeyPoints)
def resize_keypoints(
    keypoints: Tensor, size: _Size, canvas_size: Sequence[int], max_size: int | None = None
) -> tuple[Tensor, tuple[int, int]]:
    """Resize points with their image, and return its new size too."""
    new_size, ratios = _ratios(canvas_size, size, max_size)
    exact = in_float(keypoints)
    return (exact * exact.new_tensor(ratios)).to(keypoints.dtype), new_size


def _ratios(
    canvas_size: Sequence[int], size: _Size, max_size: int | None
) -> tuple[tuple[int, int], list[float]]:
    """Return the new size, and the factors of width and height."""
    height, width = _new_size(canvas_size, size, max_size)
    return (height, width), [width / canvas_size[1], height / canvas_size[0]]
