"""Colours and sharpness."""

from __future__ import annotations

from collections.abc import Sequence

from flambeau import Tensor
from flambeau.vision.transforms._image import Image, dimensions
from flambeau.vision.transforms.functional._backend import backend

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
    "invert",
    "posterize",
    "rgb_to_grayscale",
    "solarize",
    "to_grayscale",
]


def adjust_brightness(img: Image, brightness_factor: float) -> Image:
    """Adjust the brightness of an image: 0 is black, 1 the image itself."""
    return backend(img).adjust_brightness(img, _not_negative("brightness", brightness_factor))


def adjust_contrast(img: Image, contrast_factor: float) -> Image:
    """Adjust the contrast of an image: 0 is the mean grey, 1 the image itself."""
    return backend(img).adjust_contrast(img, _not_negative("contrast", contrast_factor))


def adjust_saturation(img: Image, saturation_factor: float) -> Image:
    """Adjust the saturation of an image: 0 is grey, 1 the image itself."""
    return backend(img).adjust_saturation(img, _not_negative("saturation", saturation_factor))


def adjust_hue(img: Image, hue_factor: float) -> Image:
    """Shift the hue of an image by a fraction of the colour circle, from -0.5 to 0.5."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    return backend(img).adjust_hue(img, hue_factor)


def adjust_gamma(img: Image, gamma: float, gain: float = 1) -> Image:
    """Apply gamma correction: above 1 darkens shadows, below 1 lightens them."""
    if gamma < 0:
        raise ValueError(f"Gamma should be a non-negative real number, got {gamma}")
    return backend(img).adjust_gamma(img, gamma, gain)


def adjust_sharpness(img: Image, sharpness_factor: float) -> Image:
    """Adjust the sharpness of an image: 0 is blurred, 1 the image itself."""
    return backend(img).adjust_sharpness(img, _not_negative("sharpness", sharpness_factor))


def _not_negative(name: str, factor: float) -> float:
    if factor < 0:
        raise ValueError(f"{name}_factor ({factor}) is not non-negative.")
    return factor


def to_grayscale(img: Image, num_output_channels: int = 1) -> Image:
    """Convert a PIL image to grey, with one or three bands."""
    if isinstance(img, Tensor):
        raise TypeError("Input should be PIL Image; rgb_to_grayscale takes tensors")
    return backend(img).to_grayscale(img, num_output_channels)


def rgb_to_grayscale(img: Image, num_output_channels: int = 1) -> Image:
    """Convert an image to grey, with one or three channels."""
    if num_output_channels not in (1, 3):
        raise ValueError(f"num_output_channels should be either 1 or 3, got {num_output_channels}")
    return backend(img).to_grayscale(img, num_output_channels)


def invert(img: Image) -> Image:
    """Invert the colours of an image."""
    return backend(img).invert(img)


def posterize(img: Image, bits: int) -> Image:
    """Keep the highest bits of every channel."""
    if not 0 <= bits <= 8:
        raise ValueError(f"The number if bits should be between 0 and 8. Got {bits}")
    return backend(img).posterize(img, bits)


def solarize(img: Image, threshold: float) -> Image:
    """Invert the values at or above a threshold."""
    return backend(img).solarize(img, threshold)


def autocontrast(img: Image) -> Image:
    """Stretch every channel from black to white."""
    return backend(img).autocontrast(img)


def equalize(img: Image) -> Image:
    """Equalise the histogram of every channel."""
    return backend(img).equalize(img)


def gaussian_blur(
    img: Image,
    kernel_size: int | Sequence[int],
    sigma: float | Sequence[float] | None = None,
) -> Image:
    """Blur an image with a Gaussian kernel of odd (width, height)."""
    dimensions(img)
    sizes = _pair("kernel_size", kernel_size)
    if any(size % 2 == 0 or size < 0 for size in sizes):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {kernel_size}")
    deviations = [size * 0.15 + 0.35 for size in sizes] if sigma is None else _pair("sigma", sigma)
    if any(deviation <= 0 for deviation in deviations):
        raise ValueError(f"sigma should have positive values. Got {sigma}")
    return backend(img).gaussian_blur(img, sizes, [float(s) for s in deviations])


def _pair(name: str, value: int | float | Sequence[float]) -> list[float]:
    if isinstance(value, (int, float)):
        return [value, value]
    if len(value) not in (1, 2):
        raise ValueError(f"{name} should be a number or a sequence of 1 or 2, got {value}")
    return [value[0], value[-1]]
