"""Convolution filters for PIL images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flambeau.vision._pillow import pillow
from flambeau.vision.transforms import _tensor
from flambeau.vision.transforms._pil.convert import through_tensor

__all__ = ["adjust_sharpness", "gaussian_blur"]


def adjust_sharpness(img: Any, factor: float) -> Any:
    return pillow("ImageEnhance").Sharpness(img).enhance(factor)


def gaussian_blur(img: Any, size: Sequence[int], sigma: Sequence[float]) -> Any:
    """Blur as for tensors: Pillow's own blur is only an approximation."""
    return through_tensor(img, lambda tensor: _tensor.gaussian_blur(tensor, size, sigma))
