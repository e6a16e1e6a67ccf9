"""Normalisation, blur, sharpness and noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.functional import conv2d
from flambeau.nn.functional import pad as pad_batch
from flambeau.vision.transforms import functional as first
from flambeau.vision.transforms._image import max_value
from flambeau.vision.transforms._tensor.batch import through_float
from flambeau.vision.transforms._tensor.color import need_channels
from flambeau.vision.transforms.v2.functional._dispatch import PIL, PIXELS, functional, kernel

__all__ = [
    "adjust_sharpness",
    "adjust_sharpness_image",
    "gaussian_blur",
    "gaussian_blur_image",
    "gaussian_noise",
    "gaussian_noise_image",
    "normalize",
    "normalize_image",
]

_Sizes = int | Sequence[int]
_Deviations = float | Sequence[float] | None


@functional
def normalize(inpt: Any, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> Any:
    """Subtract the mean of every channel and divide by its standard deviation."""


@kernel(normalize, *PIXELS)
def normalize_image(
    image: Tensor, mean: Sequence[float], std: Sequence[float], inplace: bool = False
) -> Tensor:
    """Normalise the channels of a floating-point image tensor."""
    return first.normalize(image, mean, std, inplace)


@functional
def gaussian_blur(inpt: Any, kernel_size: _Sizes, sigma: _Deviations = None) -> Any:
    """Blur with a Gaussian kernel of odd (width, height)."""


@kernel(gaussian_blur, *PIXELS)
def gaussian_blur_image(image: Tensor, kernel_size: _Sizes, sigma: _Deviations = None) -> Tensor:
    """Blur an image tensor, reflected at its edges."""
    sizes, deviations = _window_arguments(kernel_size, sigma)
    if image.numel() == 0:
        return image
    dtype = image.dtype if image.is_floating_point() else fb.float32
    across, down = (_bell(n, s, dtype) for n, s in zip(sizes, deviations, strict=True))
    window = down.unsqueeze(-1) * across
    margin = (sizes[0] // 2, sizes[0] // 2, sizes[1] // 2, sizes[1] // 2)

    def blur(batch: Tensor) -> Tensor:
        return _filtered(pad_batch(batch, margin, mode="reflect"), window)

    return through_float(image, blur, (dtype,))


@kernel(gaussian_blur, PIL)
def _gaussian_blur_pil(image: Any, kernel_size: _Sizes, sigma: _Deviations = None) -> Any:
    blurred = gaussian_blur_image(first.pil_to_tensor(image), kernel_size, sigma)
    return first.to_pil_image(blurred, image.mode)


def _window_arguments(kernel_size: _Sizes, sigma: _Deviations) -> tuple[list[int], list[float]]:
    sizes = [int(size) for size in _two("kernel_size", kernel_size)]
    if any(size % 2 == 0 or size < 0 for size in sizes):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {kernel_size}")
    if sigma is None:
        return sizes, [size * 0.15 + 0.35 for size in sizes]
    deviations = [float(value) for value in _two("sigma", sigma)]
    if any(value <= 0.0 for value in deviations):
        raise ValueError(f"sigma should have positive values. Got {sigma}")
    return sizes, deviations


def _two(name: str, value: Any) -> Sequence[float]:
    if isinstance(value, (int, float)):
        return value, value
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{name} should be a number or a sequence of 2, got {type(value)}")
    if len(value) not in (1, 2):
        raise ValueError(f"If {name} is a sequence its length should be 1 or 2. Got {value}")
    return value[0], value[-1]


def _bell(size: int, sigma: float, dtype: fb.dtype) -> Tensor:
    """A Gaussian kernel at integer distances from its centre, normalised to sum to 1."""
    edge = (size - 1) / (2.0 * math.sqrt(2.0))
    steps = fb.linspace(-edge, edge, size, dtype=dtype)
    return fb.softmax(steps.div(sigma).pow(2).neg(), dim=0)


def _filtered(batch: Tensor, window: Tensor) -> Tensor:
    channels = batch.shape[1]
    return conv2d(batch, window.expand(channels, 1, *window.shape), groups=channels)


@functional
def adjust_sharpness(inpt: Any, sharpness_factor: float) -> Any:
    """Adjust the sharpness: 0 is blurred, 1 the image itself."""


@kernel(adjust_sharpness, *PIXELS)
def adjust_sharpness_image(image: Tensor, sharpness_factor: float) -> Tensor:
    """Adjust the sharpness of an image tensor; its outermost pixels stay."""
    need_channels(image, 1, 3)
    if sharpness_factor < 0:
        raise ValueError(f"sharpness_factor ({sharpness_factor}) is not non-negative.")
    if image.numel() == 0 or min(image.shape[-2:]) <= 2:
        return image
    exact = image.clone() if image.is_floating_point() else image.float()
    inner = exact[..., 1:-1, 1:-1]
    inner.add_(_softened(image).sub_(inner), alpha=1.0 - sharpness_factor)
    return exact.clamp_(0, max_value(image.dtype)).to(image.dtype)


def _softened(image: Tensor) -> Tensor:
    """Smooth with a 3 × 3 kernel whose centre counts five times."""
    dtype = image.dtype if image.is_floating_point() else fb.float32
    window = fb.full((3, 3), 1.0 / 13.0, dtype=dtype)
    window[1, 1] = 5.0 / 13.0
    soft = through_float(image, lambda batch: _filtered(batch, window), (dtype,))
    return soft if image.is_floating_point() else soft.float()


kernel(adjust_sharpness, PIL)(first.adjust_sharpness)


@functional
def gaussian_noise(inpt: Any, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> Any:
    """Add Gaussian noise, relative to white for bytes."""


@kernel(gaussian_noise, *PIXELS)
def gaussian_noise_image(
    image: Tensor, mean: float = 0.0, sigma: float = 0.1, clip: bool = True
) -> Tensor:
    """Add Gaussian noise to an image tensor of floating point or bytes."""
    if sigma < 0:
        raise ValueError(f"sigma shouldn't be negative. Got {sigma}")
    if image.is_floating_point():
        noisy = image + (mean + fb.randn_like(image) * sigma)
        return noisy.clamp_(0, 1) if clip else noisy
    if image.dtype != fb.uint8:
        raise ValueError(f"Input tensor is expected to be in uint8 or float, got {image.dtype}")
    noise = (mean * 255 + fb.randn(image.shape) * sigma * 255).to(fb.int16)
    noisy = image + noise
    return (noisy.clamp_(0, 255) if clip else noisy).to(fb.uint8)


@kernel(gaussian_noise, PIL)
def _gaussian_noise_pil(
    image: Any, mean: float = 0.0, sigma: float = 0.1, clip: bool = True
) -> Any:
    raise ValueError("Gaussian Noise is not implemented for PIL images: use ToImage() first")
