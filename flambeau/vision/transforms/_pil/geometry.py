"""Cropping, resizing and padding of PIL images."""

from __future__ import annotations

from typing import Any

from flambeau.vision._pillow import pillow
from flambeau.vision.transforms._image import InterpolationMode, pil_number
from flambeau.vision.transforms._pil.ground import ground_of
from flambeau.vision.transforms._pil.resample import resampled

__all__ = ["crop", "hflip", "pad", "resize", "vflip"]


def hflip(img: Any) -> Any:
    return img.transpose(pillow().Transpose.FLIP_LEFT_RIGHT)


def vflip(img: Any) -> Any:
    return img.transpose(pillow().Transpose.FLIP_TOP_BOTTOM)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """Crop a rectangle; pixels outside of the image are black."""
    return img.crop((left, top, left + width, top + height))


def resize(
    img: Any, size: list[int], interpolation: InterpolationMode, antialias: bool | None = True
) -> Any:
    """Resize; Pillow always antialiases when it shrinks an image."""
    done = resampled(img, size, interpolation)
    return img.resize((size[1], size[0]), pil_number(interpolation)) if done is None else done


def pad(img: Any, sides: list[int], fill: Any, mode: str) -> Any:
    """Pad an image at the left, top, right and bottom; crop it where negative."""
    if mode != "constant":
        return _pad_from_image(img, sides, mode)
    color = ground_of(img, fill)
    # Only what has a palette keeps it through Pillow's own padding.
    padded = pillow("ImageOps").expand(img, border=tuple(sides), fill=color)
    if img.mode == "P":
        padded.putpalette(img.getpalette())
    return padded


def _pad_from_image(img: Any, sides: list[int], mode: str) -> Any:
    import numpy as np

    cut = [max(-side, 0) for side in sides]
    if any(cut):
        img = img.crop((cut[0], cut[1], img.width - cut[2], img.height - cut[3]))
    left, top, right, bottom = (max(side, 0) for side in sides)
    pixels = np.asarray(img)
    margins = ((top, bottom), (left, right)) + ((0, 0),) * (pixels.ndim - 2)
    padded = pillow().fromarray(np.pad(pixels, margins, mode=mode))  # type: ignore[call-overload]
    if img.mode == "P":
        padded.putpalette(img.getpalette())
    return padded
