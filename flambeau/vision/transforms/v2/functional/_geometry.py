"""Sizes, crops, flips, margins and bends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flambeau.vision.transforms import functional as F
from flambeau.vision.transforms.v2.functional._dispatch import keeping_masks, moving_masks

__all__ = [
    "affine",
    "center_crop",
    "crop",
    "elastic",
    "elastic_transform",
    "erase",
    "five_crop",
    "hflip",
    "horizontal_flip",
    "pad",
    "perspective",
    "resize",
    "resized_crop",
    "rotate",
    "ten_crop",
    "vertical_flip",
    "vflip",
]

affine: Callable[..., Any] = moving_masks(F.affine)
center_crop: Callable[..., Any] = moving_masks(F.center_crop)
crop: Callable[..., Any] = moving_masks(F.crop)
elastic_transform: Callable[..., Any] = moving_masks(F.elastic_transform)
elastic: Callable[..., Any] = elastic_transform
erase: Callable[..., Any] = keeping_masks(F.erase)
five_crop: Callable[..., Any] = moving_masks(F.five_crop)
horizontal_flip: Callable[..., Any] = moving_masks(F.hflip)
hflip: Callable[..., Any] = horizontal_flip
perspective: Callable[..., Any] = moving_masks(F.perspective)
resize: Callable[..., Any] = moving_masks(F.resize)
resized_crop: Callable[..., Any] = moving_masks(F.resized_crop)
rotate: Callable[..., Any] = moving_masks(F.rotate)
ten_crop: Callable[..., Any] = moving_masks(F.ten_crop)
vertical_flip: Callable[..., Any] = moving_masks(F.vflip)
vflip: Callable[..., Any] = vertical_flip


@moving_masks
def pad(
    image: Any,
    padding: int | Sequence[int],
    fill: float | Sequence[float] | None = None,
    padding_mode: str = "constant",
) -> Any:
    """Add margins: one for all sides, (sides, top and bottom), or left, top, right, bottom."""
    return F.pad(image, padding, 0 if fill is None else fill, padding_mode)
