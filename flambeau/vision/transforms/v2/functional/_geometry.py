"""Sizes, crops, flips, margins and bends."""

from __future__ import annotations

from collections.abc import Sequence
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

affine = moving_masks(F.affine)
center_crop = moving_masks(F.center_crop)
crop = moving_masks(F.crop)
elastic = elastic_transform = moving_masks(F.elastic_transform)
erase = keeping_masks(F.erase)
five_crop = moving_masks(F.five_crop)
hflip = horizontal_flip = moving_masks(F.hflip)
perspective = moving_masks(F.perspective)
resize = moving_masks(F.resize)
resized_crop = moving_masks(F.resized_crop)
rotate = moving_masks(F.rotate)
ten_crop = moving_masks(F.ten_crop)
vflip = vertical_flip = moving_masks(F.vflip)


@moving_masks
def pad(
    image: Any,
    padding: int | Sequence[int],
    fill: float | Sequence[float] | None = None,
    padding_mode: str = "constant",
) -> Any:
    """Add margins: one for all sides, (sides, top and bottom), or left, top, right, bottom."""
    return F.pad(image, padding, 0 if fill is None else fill, padding_mode)
