"""Properties of images that every transform needs: kind, size, interpolation."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, TypeAlias

import flambeau as fb
from flambeau import Tensor
from flambeau.vision._pillow import is_pil_image

__all__ = [
    "Fill",
    "Image",
    "InterpolationMode",
    "dimensions",
    "interpolation_of",
    "max_value",
    "need_float",
    "pil_number",
]

Image: TypeAlias = Any  # a tensor (..., C, H, W) or a PIL image
Fill: TypeAlias = "float | Sequence[float] | None"


class InterpolationMode(Enum):
    """How pixels are interpolated.

    The values are nearest, nearest-exact, bilinear, bicubic and, for PIL images only, box, hamming
    and lanczos.

    Example:
        >>> from flambeau.vision.transforms import InterpolationMode, Resize
        >>> resize = Resize(8, interpolation=InterpolationMode.NEAREST)
        >>> resize(torch.zeros(3, 4, 4)).shape
        torch.Size([3, 8, 8])

    See also:
        `vision.transforms.Resize`.
    """

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


_PIL_NUMBERS = {
    InterpolationMode.NEAREST: 0,
    InterpolationMode.BILINEAR: 2,
    InterpolationMode.BICUBIC: 3,
    InterpolationMode.NEAREST_EXACT: 0,
    InterpolationMode.BOX: 4,
    InterpolationMode.HAMMING: 5,
    InterpolationMode.LANCZOS: 1,
}
_MODES_OF_NUMBERS = {
    number: mode
    for mode, number in _PIL_NUMBERS.items()
    if mode is not InterpolationMode.NEAREST_EXACT
}
_MAX_VALUES = {
    fb.uint8: 255,
    fb.int8: 127,
    fb.int16: 32767,
    fb.int32: 2147483647,
    fb.int64: 9223372036854775807,
}


def interpolation_of(value: InterpolationMode | int) -> InterpolationMode:
    """An interpolation mode, also from Pillow's code for it."""
    if isinstance(value, int) and value in _MODES_OF_NUMBERS:
        return _MODES_OF_NUMBERS[value]
    if not isinstance(value, InterpolationMode):
        raise TypeError(
            "Argument interpolation should be a InterpolationMode or a corresponding Pillow "
            f"integer constant, got {value!r}"
        )
    return value


def pil_number(mode: InterpolationMode) -> int:
    """Pillow's code for an interpolation mode."""
    return _PIL_NUMBERS[mode]


def dimensions(img: Image) -> tuple[int, int, int]:
    """Return channels, height and width."""
    if isinstance(img, Tensor):
        if img.ndim < 2:
            raise TypeError(f"Tensor is not a torch image: it has shape {tuple(img.shape)}")
        return (1 if img.ndim == 2 else img.shape[-3]), img.shape[-2], img.shape[-1]
    if is_pil_image(img):
        width, height = img.size
        return len(img.getbands()), height, width
    raise TypeError(f"img should be PIL Image or Tensor. Got {type(img)}")


def max_value(dtype: fb.dtype) -> int:
    """The value of white: 1 for floating point, the largest integer otherwise."""
    return _MAX_VALUES.get(dtype, 1)


def need_float(img: Tensor) -> Tensor:
    """Refuse an image of integers."""
    if not img.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {img.dtype}.")
    return img
