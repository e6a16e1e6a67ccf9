"""Conversion of images between dtypes, with black and white preserved."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.transforms._image import max_value

__all__ = ["convert_dtype"]

# Just below one step: white becomes the largest integer and no more.
_ALMOST_ONE = 1.0 - 1e-3


def convert_dtype(img: Tensor, dtype: fb.dtype) -> Tensor:
    """Convert an image to another dtype, with its values scaled to the range of that dtype."""
    if img.dtype == dtype:
        return img
    if img.is_floating_point():
        if dtype.is_floating_point:
            return img.to(dtype)
        return _float_to_integer(img, dtype)
    white = max_value(img.dtype)
    if dtype.is_floating_point:
        return img.to(dtype) / white
    new_white = max_value(dtype)
    if white > new_white:
        steps = (white + 1) // (new_white + 1)
        return img.div(steps, rounding_mode="floor").to(dtype)
    return img.to(dtype) * ((new_white + 1) // (white + 1))


def _float_to_integer(img: Tensor, dtype: fb.dtype) -> Tensor:
    wide = dtype in (fb.int32, fb.int64) if img.dtype == fb.float32 else dtype == fb.int64
    if wide and img.dtype in (fb.float32, fb.float64):
        raise RuntimeError(
            f"The cast from {img.dtype} to {dtype} cannot be performed safely: convert to a "
            "narrower integer type"
        )
    return (img * (max_value(dtype) + _ALMOST_ONE)).to(dtype)
