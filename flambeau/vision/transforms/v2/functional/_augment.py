"""Erased rectangles and JPEG compression."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.transforms import functional as first
from flambeau.vision.transforms.v2.functional._dispatch import PIL, PIXELS, functional, kernel

__all__ = ["erase", "erase_image", "jpeg", "jpeg_image"]


@functional
def erase(inpt: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    """Set a rectangle, with its top left corner at row i and column j, to a value or a patch."""


@kernel(erase, *PIXELS)
def erase_image(
    image: Tensor, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False
) -> Tensor:
    """Set a rectangle of an image tensor to a value or a patch."""
    return first.erase(image, i, j, h, w, v, inplace)


@kernel(erase, PIL)
def _erase_pil(image: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    erased = erase_image(first.pil_to_tensor(image), i, j, h, w, v)
    return first.to_pil_image(erased, image.mode)


@functional
def jpeg(inpt: Any, quality: int) -> Any:
    """Compress an image of bytes as JPEG with a quality from 1 to 100, and decode it."""


@kernel(jpeg, *PIXELS)
def jpeg_image(image: Tensor, quality: int) -> Tensor:
    """Compress an image tensor of bytes as JPEG, and decode it."""
    from flambeau.vision.io import decode_jpeg, encode_jpeg

    if image.numel() == 0:
        return image.clone()
    planes = image.reshape(-1, *image.shape[-3:])
    saved: Any = [decode_jpeg(encode_jpeg(plane.contiguous(), quality)) for plane in planes]
    return fb.stack(saved).view(image.shape)


@kernel(jpeg, PIL)
def _jpeg_pil(image: Any, quality: int) -> Any:
    saved = jpeg_image(first.pil_to_tensor(image), quality)
    return first.to_pil_image(saved, image.mode)
