"""Inversion, posterisation, solarisation, contrast stretching and equalisation."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.transforms import _tensor
from flambeau.vision.transforms import functional as first
from flambeau.vision.transforms._image import max_value
from flambeau.vision.transforms.v2.functional._dispatch import PIL, PIXELS, functional, kernel
from flambeau.vision.transforms.v2.functional._dtype import to_dtype_image, value_bits

__all__ = [
    "autocontrast",
    "autocontrast_image",
    "equalize",
    "equalize_image",
    "invert",
    "invert_image",
    "posterize",
    "posterize_image",
    "solarize",
    "solarize_image",
]


@functional
def invert(inpt: Any) -> Any:
    """Invert the colours."""


@kernel(invert, *PIXELS)
def invert_image(image: Tensor) -> Tensor:
    """Invert the colours of an image tensor."""
    if not image.is_floating_point():
        value_bits(image.dtype)  # TypeError for a type without black and white
    return max_value(image.dtype) - image


@functional
def posterize(inpt: Any, bits: int) -> Any:
    """Keep the highest bits of every channel."""


@kernel(posterize, *PIXELS)
def posterize_image(image: Tensor, bits: int) -> Tensor:
    """Keep the highest bits of an image tensor, which leaves 2^bits levels."""
    if image.is_floating_point():
        levels = 1 << bits
        return image.mul(levels).floor_().clamp_(0, levels - 1).mul_(1.0 / levels)
    lost = value_bits(image.dtype) - bits
    if lost <= 0:
        return image
    return image & (((1 << bits) - 1) << lost)


@functional
def solarize(inpt: Any, threshold: float) -> Any:
    """Invert the values at or above a threshold."""


@kernel(solarize, *PIXELS)
def solarize_image(image: Tensor, threshold: float) -> Tensor:
    """Invert the values of an image tensor at or above a threshold."""
    white = max_value(image.dtype)
    if threshold > white:
        raise TypeError(
            f"Threshold should be less or equal the maximum value of the dtype, {white}, but got "
            f"{threshold}"
        )
    return fb.where(image >= threshold, invert_image(image), image)


@functional
def autocontrast(inpt: Any) -> Any:
    """Stretch every channel from black to white."""


@kernel(autocontrast, *PIXELS)
def autocontrast_image(image: Tensor) -> Tensor:
    """Stretch every channel of an image tensor from black to white; a constant one stays."""
    if image.numel() == 0:
        return image
    white = max_value(image.dtype)
    exact = image if image.is_floating_point() else image.float()
    lowest = exact.amin(dim=(-2, -1), keepdim=True)
    span = exact.amax(dim=(-2, -1), keepdim=True) - lowest
    even = span == 0
    step = (span * (1.0 / white)).masked_fill(even, 1.0)
    stretched = (exact - lowest.masked_fill(even, 0.0)).div_(step)
    return stretched.clamp_(0, white).to(image.dtype)


@functional
def equalize(inpt: Any) -> Any:
    """Equalise the histogram of every channel."""


@kernel(equalize, *PIXELS)
def equalize_image(image: Tensor) -> Tensor:
    """Equalise the histogram of an image tensor, in 256 steps."""
    if image.numel() == 0:
        return image
    levels = to_dtype_image(image, fb.uint8, scale=True)
    flat = levels.reshape(-1, 1, *levels.shape[-2:])
    spread = _tensor.equalize(flat).view(levels.shape)
    return to_dtype_image(spread, image.dtype, scale=True)


for _function, _of_pil in (
    (invert, first.invert),
    (posterize, first.posterize),
    (solarize, first.solarize),
    (autocontrast, first.autocontrast),
    (equalize, first.equalize),
):
    kernel(_function, PIL)(_of_pil)
