"""Convolution filters for tensors."""

from __future__ import annotations

from collections.abc import Sequence

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.functional import conv2d, pad
from flambeau.vision.transforms._tensor.batch import through_float
from flambeau.vision.transforms._tensor.color import blend, need_channels

__all__ = ["adjust_sharpness", "gaussian_blur"]


def gaussian_blur(img: Tensor, size: Sequence[int], sigma: Sequence[float]) -> Tensor:
    """Weighted sums over windows of `size` (width, height) pixels, reflected at the edges."""
    dtype = img.dtype if img.is_floating_point() else fb.float32
    across, down = (_bell(n, s, dtype) for n, s in zip(size, sigma, strict=True))
    window = down[:, None] * across
    margin = (size[0] // 2, size[0] // 2, size[1] // 2, size[1] // 2)
    return through_float(
        img,
        lambda batch: _filter(pad(batch, margin, mode="reflect"), window.to(batch.dtype)),
        (dtype,),
    )


def adjust_sharpness(img: Tensor, factor: float) -> Tensor:
    need_channels(img, 1, 3)
    if min(img.shape[-2:]) <= 2:
        return img
    return blend(img, _softened(img), factor)


def _softened(img: Tensor) -> Tensor:
    """Smooth with a 3 × 3 kernel whose centre counts five times; the border stays."""
    dtype = img.dtype if img.is_floating_point() else fb.float32
    window = fb.ones(3, 3, dtype=dtype)
    window[1, 1] = 5.0
    window /= window.sum()
    inner = through_float(img, lambda batch: _filter(batch, window), (dtype,))
    result = img.clone()
    result[..., 1:-1, 1:-1] = inner
    return result


def _bell(size: int, sigma: float, dtype: fb.dtype) -> Tensor:
    """A Gaussian kernel at integer distances from its centre, normalised to sum to 1."""
    edge = (size - 1) * 0.5
    steps = fb.linspace(-edge, edge, steps=size, dtype=dtype)
    weights = fb.exp(-0.5 * (steps / sigma).pow(2))
    return weights / weights.sum()


def _filter(batch: Tensor, window: Tensor) -> Tensor:
    channels = batch.shape[1]
    return conv2d(batch, window.expand(channels, 1, *window.shape), groups=channels)
