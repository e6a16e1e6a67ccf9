"""Brightness, contrast, saturation, hue, and grey images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.transforms import functional as first
from flambeau.vision.transforms._image import max_value
from flambeau.vision.transforms._tensor.color import _from_hsv, _to_hsv, need_channels
from flambeau.vision.transforms.v2.functional._dispatch import PIL, PIXELS, functional, kernel
from flambeau.vision.transforms.v2.functional._dtype import to_dtype_image
from flambeau.vision.tv_tensors import Image

__all__ = [
    "adjust_brightness",
    "adjust_brightness_image",
    "adjust_contrast",
    "adjust_contrast_image",
    "adjust_gamma",
    "adjust_gamma_image",
    "adjust_hue",
    "adjust_hue_image",
    "adjust_saturation",
    "adjust_saturation_image",
    "grayscale_to_rgb",
    "grayscale_to_rgb_image",
    "permute_channels",
    "permute_channels_image",
    "rgb_to_grayscale",
    "rgb_to_grayscale_image",
    "to_grayscale",
]

_GREY = (0.2989, 0.587, 0.114)  # luma coefficients of red, green and blue


@functional
def rgb_to_grayscale(inpt: Any, num_output_channels: int = 1) -> Any:
    """Convert an image to grey, with one or three channels."""


to_grayscale = rgb_to_grayscale


def _check_channels(num_output_channels: int) -> None:
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels must be 1 or 3, got {num_output_channels}.")


@kernel(rgb_to_grayscale, Tensor, Image)
def rgb_to_grayscale_image(image: Tensor, num_output_channels: int = 1) -> Tensor:
    """Convert an image tensor to grey."""
    _check_channels(num_output_channels)
    if image.shape[-3] == 1 and num_output_channels == 1:
        return image.clone()
    grey = image if image.shape[-3] == 1 else _grey(image).to(image.dtype)
    if num_output_channels == 1:
        return grey
    return grey.expand(*image.shape[:-3], num_output_channels, *image.shape[-2:])


@kernel(rgb_to_grayscale, PIL)
def _rgb_to_grayscale_pil(image: Any, num_output_channels: int = 1) -> Any:
    _check_channels(num_output_channels)
    return first.rgb_to_grayscale(image, num_output_channels)


def _grey(image: Tensor) -> Tensor:
    """The luma of every pixel of three channels, not yet rounded."""
    red, green, blue = image.split(1, -3)
    return red.mul(_GREY[0]).add_(green, alpha=_GREY[1]).add_(blue, alpha=_GREY[2])


def _whole_grey(image: Tensor) -> Tensor:
    """The grey image in floating point, with integer values if the image has integers."""
    if image.shape[-3] == 1:
        return image if image.is_floating_point() else image.float()
    grey = _grey(image)
    return grey if image.is_floating_point() else grey.floor_()


def _blend(image: Tensor, other: Tensor, share: float) -> Tensor:
    """Blend the first image with the second, clamped to black and white."""
    mixed = image.mul(share).add_(other, alpha=1.0 - share)
    return mixed.clamp_(0, max_value(image.dtype)).to(image.dtype)


def _not_negative(name: str, factor: float) -> None:
    if factor < 0:
        raise ValueError(f"{name}_factor ({factor}) is not non-negative.")


@functional
def grayscale_to_rgb(inpt: Any) -> Any:
    """Expand one channel to three; an image of three channels stays as it is."""


@kernel(grayscale_to_rgb, Tensor, Image)
def grayscale_to_rgb_image(image: Tensor) -> Tensor:
    """Expand the one channel of an image tensor to three."""
    if image.shape[-3] >= 3:
        return image
    return rgb_to_grayscale_image(image, 3)


@kernel(grayscale_to_rgb, PIL)
def _grayscale_to_rgb_pil(image: Any) -> Any:
    return image.convert("RGB")


@functional
def adjust_brightness(inpt: Any, brightness_factor: float) -> Any:
    """Adjust the brightness: 0 is black, 1 the image itself."""


@kernel(adjust_brightness, *PIXELS)
def adjust_brightness_image(image: Tensor, brightness_factor: float) -> Tensor:
    """Adjust the brightness of an image tensor."""
    _not_negative("brightness", brightness_factor)
    need_channels(image, 1, 3)
    lighter = image.mul(brightness_factor).clamp_(0, max_value(image.dtype))
    return lighter.to(image.dtype)


@functional
def adjust_contrast(inpt: Any, contrast_factor: float) -> Any:
    """Adjust the contrast: 0 is the mean grey, 1 the image itself."""


@kernel(adjust_contrast, *PIXELS)
def adjust_contrast_image(image: Tensor, contrast_factor: float) -> Tensor:
    """Adjust the contrast of an image tensor."""
    _not_negative("contrast", contrast_factor)
    need_channels(image, 1, 3)
    mean = _whole_grey(image).mean(dim=(-3, -2, -1), keepdim=True)
    return _blend(image, mean, contrast_factor)


@functional
def adjust_saturation(inpt: Any, saturation_factor: float) -> Any:
    """Adjust the saturation: 0 is grey, 1 the image itself."""


@kernel(adjust_saturation, *PIXELS)
def adjust_saturation_image(image: Tensor, saturation_factor: float) -> Tensor:
    """Adjust the saturation of an image tensor."""
    _not_negative("saturation", saturation_factor)
    if need_channels(image, 1, 3) == 1:
        return image
    return _blend(image, _whole_grey(image), saturation_factor)


@functional
def adjust_hue(inpt: Any, hue_factor: float) -> Any:
    """Shift the hue by a fraction of the colour circle, from -0.5 to 0.5."""


@kernel(adjust_hue, *PIXELS)
def adjust_hue_image(image: Tensor, hue_factor: float) -> Tensor:
    """Shift the hue of an image tensor."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    if need_channels(image, 1, 3) == 1 or image.numel() == 0:
        return image
    hue, saturation, value = _to_hsv(to_dtype_image(image, fb.float32, scale=True))
    shifted = _from_hsv((hue + hue_factor) % 1.0, saturation, value)
    return to_dtype_image(shifted, image.dtype, scale=True)


@functional
def adjust_gamma(inpt: Any, gamma: float, gain: float = 1) -> Any:
    """Apply gamma correction: above 1 darkens shadows, below 1 lightens them."""


@kernel(adjust_gamma, *PIXELS)
def adjust_gamma_image(image: Tensor, gamma: float, gain: float = 1.0) -> Tensor:
    """Apply gamma correction to an image tensor."""
    if gamma < 0:
        raise ValueError(f"Gamma should be a non-negative real number, got {gamma}")
    exact = image if image.is_floating_point() else to_dtype_image(image, fb.float32, scale=True)
    power = exact.pow(gamma)
    if gain != 1.0:
        power = power.mul(gain).clamp_(0.0, 1.0)
    return to_dtype_image(power, image.dtype, scale=True)


@functional
def permute_channels(inpt: Any, permutation: Sequence[int]) -> Any:
    """Permute the channels."""


@kernel(permute_channels, *PIXELS)
def permute_channels_image(image: Tensor, permutation: Sequence[int]) -> Tensor:
    """Permute the channels of an image tensor."""
    channels = image.shape[-3]
    if len(permutation) != channels:
        raise ValueError(
            f"Length of permutation does not match number of channels: {len(permutation)} != "
            f"{channels}"
        )
    return image[..., list(permutation), :, :]


@kernel(permute_channels, PIL)
def _permute_channels_pil(image: Any, permutation: Sequence[int]) -> Any:
    permuted = permute_channels_image(first.pil_to_tensor(image), permutation)
    return first.to_pil_image(permuted, image.mode)


for _function, _of_pil in (
    (adjust_brightness, first.adjust_brightness),
    (adjust_contrast, first.adjust_contrast),
    (adjust_saturation, first.adjust_saturation),
    (adjust_hue, first.adjust_hue),
    (adjust_gamma, first.adjust_gamma),
):
    kernel(_function, PIL)(_of_pil)
