"""Conversion of images between dtypes, with black and white preserved."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.transforms._image import max_value
from flambeau.vision.transforms._tensor.convert import convert_dtype
from flambeau.vision.transforms.v2.functional._dispatch import PIXELS, functional, kernel
from flambeau.vision.tv_tensors import BoundingBoxes, KeyPoints, Mask

__all__ = ["convert_image_dtype", "to_dtype", "to_dtype_image", "value_bits"]

_BITS = {fb.uint8: 8, fb.int8: 7, fb.int16: 15, fb.int32: 31, fb.int64: 63}


def value_bits(dtype: fb.dtype) -> int:
    """The number of value bits of an integer type, without the sign."""
    if dtype not in _BITS:
        raise TypeError(f"a type of whole numbers is expected, got {dtype}")
    return _BITS[dtype]


@functional
def to_dtype(inpt: Any, dtype: fb.dtype = fb.float32, scale: bool = False) -> Any:
    """Convert to another dtype; ``scale`` maps images to the range of that dtype."""


@kernel(to_dtype, *PIXELS)
def to_dtype_image(image: Tensor, dtype: fb.dtype = fb.float32, scale: bool = False) -> Tensor:
    """Convert an image tensor to another dtype."""
    if image.dtype == dtype:
        return image
    if not scale:
        return image.to(dtype)
    if dtype.is_floating_point and not image.is_floating_point():
        return image.to(dtype).mul_(1.0 / max_value(image.dtype))
    return convert_dtype(image, dtype)


@kernel(to_dtype, Mask, BoundingBoxes, KeyPoints)
def _to_dtype_of_others(inpt: Tensor, dtype: fb.dtype = fb.float32, scale: bool = False) -> Tensor:
    """Convert without scaling: boxes and masks have no white to scale to."""
    return inpt.to(dtype)


def convert_image_dtype(image: Tensor, dtype: fb.dtype = fb.float32) -> Tensor:
    """Convert an image to another dtype and scale its values to the range of that dtype."""
    return to_dtype_image(image, dtype, scale=True)
