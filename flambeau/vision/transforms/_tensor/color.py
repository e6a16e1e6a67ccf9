"""Colour changes of tensors (..., C, H, W)."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.transforms._image import dimensions, max_value
from flambeau.vision.transforms._tensor.convert import convert_dtype

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "autocontrast",
    "blend",
    "equalize",
    "invert",
    "need_channels",
    "posterize",
    "solarize",
    "to_grayscale",
]

_GREY = (0.2989, 0.587, 0.114)  # luma coefficients of red, green and blue


def need_channels(img: Tensor, *permitted: int) -> int:
    """Return an image; refuse one with another number of channels than these."""
    channels = dimensions(img)[0]
    if channels not in permitted:
        raise TypeError(
            f"Input image tensor permitted channel values are {list(permitted)}, but found "
            f"{channels}"
        )
    return channels


def blend(img: Tensor, other: Tensor | float, share: float) -> Tensor:
    """Blend the first image with the second, clamped to black and white."""
    mixed = (share * img + (1.0 - share) * other).clamp(0, max_value(img.dtype))
    return mixed.to(img.dtype)


def to_grayscale(img: Tensor, channels: int = 1) -> Tensor:
    if need_channels(img, 1, 3) == 3:
        red, green, blue = img.unbind(-3)
        grey = (_GREY[0] * red + _GREY[1] * green + _GREY[2] * blue).to(img.dtype)
        img = grey.unsqueeze(-3)
    else:
        img = img.clone()
    return img if channels == 1 else img.expand(*img.shape[:-3], channels, *img.shape[-2:])


def adjust_brightness(img: Tensor, factor: float) -> Tensor:
    need_channels(img, 1, 3)
    return blend(img, fb.zeros_like(img), factor)


def adjust_contrast(img: Tensor, factor: float) -> Tensor:
    grey = to_grayscale(img) if need_channels(img, 1, 3) == 3 else img
    exact = grey if grey.is_floating_point() else grey.float()
    return blend(img, exact.mean(dim=(-3, -2, -1), keepdim=True), factor)


def adjust_saturation(img: Tensor, factor: float) -> Tensor:
    if need_channels(img, 1, 3) == 1:
        return img
    return blend(img, to_grayscale(img), factor)


def adjust_gamma(img: Tensor, gamma: float, gain: float) -> Tensor:
    exact = img if img.is_floating_point() else convert_dtype(img, fb.float32)
    return convert_dtype((gain * exact**gamma).clamp(0, 1), img.dtype)


def adjust_hue(img: Tensor, shift: float) -> Tensor:
    if need_channels(img, 1, 3) == 1 or img.numel() == 0:
        return img
    hue, saturation, value = _to_hsv(convert_dtype(img, fb.float32))
    return convert_dtype(_from_hsv((hue + shift) % 1.0, saturation, value), img.dtype)


def _to_hsv(img: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    red, green, blue = img.unbind(-3)
    highest, lowest = img.amax(-3), img.amin(-3)
    grey = highest == lowest
    span = highest - lowest
    saturation = span / highest.masked_fill(grey, 1.0)
    divisor = span.masked_fill(grey, 1.0)
    # The distances of the other channels from the largest one give the hue within its third.
    to_red, to_green, to_blue = ((highest - c) / divisor for c in (red, green, blue))
    is_red = highest == red
    is_green = (highest == green) & ~is_red
    hue = is_red * (to_blue - to_green)
    hue = hue + is_green * (2.0 + to_red - to_blue)
    hue = hue + (~is_green & ~is_red) * (4.0 + to_green - to_red)
    return fb.fmod(hue / 6.0 + 1.0, 1.0), saturation, highest


def _from_hsv(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
    sixth = (hue * 6.0).floor()
    rest = hue * 6.0 - sixth
    low = (value * (1.0 - saturation)).clamp(0.0, 1.0)
    falling = (value * (1.0 - saturation * rest)).clamp(0.0, 1.0)
    rising = (value * (1.0 - saturation * (1.0 - rest))).clamp(0.0, 1.0)
    sixth = sixth.to(fb.int64) % 6
    reds = fb.stack((value, falling, low, low, rising, value))
    greens = fb.stack((rising, value, value, falling, low, low))
    blues = fb.stack((low, low, rising, value, value, falling))
    channels = [table.gather(0, sixth[None])[0] for table in (reds, greens, blues)]
    return fb.stack(channels, dim=-3)


def invert(img: Tensor) -> Tensor:
    need_channels(img, 1, 3)
    inverted: Tensor = max_value(img.dtype) - img
    return inverted


def posterize(img: Tensor, bits: int) -> Tensor:
    need_channels(img, 1, 3)
    if img.dtype != fb.uint8:
        raise TypeError(f"Only torch.uint8 image tensors are supported, but found {img.dtype}")
    return img.bitwise_and(256 - 2 ** (8 - bits))


def solarize(img: Tensor, threshold: float) -> Tensor:
    need_channels(img, 1, 3)
    if threshold > max_value(img.dtype):
        raise TypeError(f"Threshold should be less than bound of img, got {threshold}")
    return fb.where(img >= threshold, invert(img), img)


def autocontrast(img: Tensor) -> Tensor:
    """Stretch every channel from black to white; a constant one stays."""
    need_channels(img, 1, 3)
    white = max_value(img.dtype)
    exact = img if img.is_floating_point() else img.float()
    lowest = exact.amin(dim=(-2, -1), keepdim=True)
    highest = exact.amax(dim=(-2, -1), keepdim=True)
    even = lowest == highest
    factor = (highest - lowest).reciprocal().mul(white).masked_fill(even, 1.0)
    lowest = lowest.masked_fill(even, 0.0)
    return ((img - lowest) * factor).clamp(0, white).to(img.dtype)


def equalize(img: Tensor) -> Tensor:
    """Equalise the histogram of every channel."""
    need_channels(img, 1, 3)
    if img.dtype != fb.uint8:
        raise TypeError(f"Only torch.uint8 image tensors are supported, but found {img.dtype}")
    if img.numel() == 0:
        return img
    planes = img.reshape(-1, img.shape[-2] * img.shape[-1])
    return fb.stack([_equalize_plane(plane) for plane in planes]).view(img.shape)


def _equalize_plane(plane: Tensor) -> Tensor:
    counts = fb.bincount(plane.int(), minlength=256)
    present = counts[counts != 0]
    step = (present.sum() - present[-1]) // 255
    if step == 0:
        return plane
    below = counts.cumsum(0) - counts
    table = ((below + step // 2) // step).clamp(0, 255).to(fb.uint8)
    return table[plane.long()]
