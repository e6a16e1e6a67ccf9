"""Colours and sharpness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.transforms import functional as F
from flambeau.vision.transforms._image import dimensions
from flambeau.vision.transforms.v2.functional._dispatch import keeping_masks

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "adjust_sharpness",
    "autocontrast",
    "equalize",
    "gaussian_blur",
    "gaussian_noise",
    "grayscale_to_rgb",
    "invert",
    "permute_channels",
    "posterize",
    "rgb_to_grayscale",
    "solarize",
    "to_grayscale",
]

adjust_brightness: Callable[..., Any] = keeping_masks(F.adjust_brightness)
adjust_contrast: Callable[..., Any] = keeping_masks(F.adjust_contrast)
adjust_gamma: Callable[..., Any] = keeping_masks(F.adjust_gamma)
adjust_hue: Callable[..., Any] = keeping_masks(F.adjust_hue)
adjust_saturation: Callable[..., Any] = keeping_masks(F.adjust_saturation)
adjust_sharpness: Callable[..., Any] = keeping_masks(F.adjust_sharpness)
autocontrast: Callable[..., Any] = keeping_masks(F.autocontrast)
equalize: Callable[..., Any] = keeping_masks(F.equalize)
gaussian_blur: Callable[..., Any] = keeping_masks(F.gaussian_blur)
invert: Callable[..., Any] = keeping_masks(F.invert)
posterize: Callable[..., Any] = keeping_masks(F.posterize)
rgb_to_grayscale: Callable[..., Any] = keeping_masks(F.rgb_to_grayscale)
solarize: Callable[..., Any] = keeping_masks(F.solarize)
to_grayscale: Callable[..., Any] = rgb_to_grayscale


@keeping_masks
def grayscale_to_rgb(image: Any) -> Any:
    """Make three channels of one; what has three stays as it is."""
    if dimensions(image)[0] >= 3:
        return image
    if isinstance(image, Tensor):
        return image.expand(*image.shape[:-3], 3, *image.shape[-2:])
    return F.to_grayscale(image, 3)


@keeping_masks
def permute_channels(image: Any, permutation: list[int]) -> Any:
    """Put the channels in another order."""
    if isinstance(image, Tensor):
        return image[..., permutation, :, :]
    return F.to_pil_image(F.pil_to_tensor(image)[permutation], image.mode)


@keeping_masks
def gaussian_noise(image: Any, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> Any:
    """Add normal noise, in shares of white for bytes."""
    if not isinstance(image, Tensor):
        raise ValueError(f"Input tensor is expected to be a tensor, got {type(image)}")
    if sigma < 0:
        raise ValueError(f"sigma shouldn't be negative. Got {sigma}")
    if image.is_floating_point():
        noisy = image + (mean + fb.randn_like(image) * sigma)
        return noisy.clamp(0, 1) if clip else noisy
    if image.dtype != fb.uint8:
        raise ValueError(f"Input tensor is expected to be in uint8 or float, got {image.dtype}")
    noise = fb.randn(image.shape) * sigma * 255
    noisy = image.float() + (mean * 255 + noise)
    return (noisy.clamp(0, 255) if clip else noisy).to(fb.uint8)
