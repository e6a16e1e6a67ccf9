"""Element types, normalisation, and what is asked of an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.transforms import functional as F
from flambeau.vision.transforms._image import dimensions
from flambeau.vision.transforms.v2.functional._dispatch import is_pure_tensor, keeping_masks

__all__ = [
    "convert_image_dtype",
    "get_dimensions",
    "get_image_num_channels",
    "get_image_size",
    "get_num_channels",
    "get_size",
    "is_pure_tensor",
    "normalize",
    "to_dtype",
]

convert_image_dtype = F.convert_image_dtype
get_dimensions = F.get_dimensions
get_image_num_channels = get_num_channels = F.get_image_num_channels
get_image_size = F.get_image_size


def get_size(inpt: Any) -> list[int]:
    """Return height and width."""
    return list(dimensions(inpt)[1:])


@keeping_masks
def normalize(
    image: Tensor, mean: Sequence[float], std: Sequence[float], inplace: bool = False
) -> Tensor:
    """Subtract the mean of every channel and divide by its standard deviation."""
    return F.normalize(image, mean, std, inplace)


@keeping_masks
def to_dtype(image: Tensor, dtype: fb.dtype = fb.float32, scale: bool = False) -> Tensor:
    """Convert to another type; ``scale`` keeps black and white where they are."""
    if not isinstance(image, Tensor):
        raise TypeError(f"a tensor is expected, got {type(image)}: use to_image first")
    return F.convert_image_dtype(image, dtype) if scale else image.to(dtype)
