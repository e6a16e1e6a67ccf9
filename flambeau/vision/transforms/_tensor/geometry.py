"""Cropping, resizing and padding of tensors."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.functional import interpolate
from flambeau.nn.functional import pad as pad_batch
from flambeau.vision.transforms._image import InterpolationMode
from flambeau.vision.transforms._tensor.batch import through_float

__all__ = ["crop", "hflip", "pad", "resize", "vflip"]

_SMOOTH = (InterpolationMode.BILINEAR, InterpolationMode.BICUBIC)
_NEAREST = (InterpolationMode.NEAREST, InterpolationMode.NEAREST_EXACT)
_PAD_MODES = {"edge": "replicate", "reflect": "reflect"}


def hflip(img: Tensor) -> Tensor:
    return img.flip(-1)


def vflip(img: Tensor) -> Tensor:
    return img.flip(-2)


def crop(img: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """Crop a rectangle; pixels outside of the image are 0."""
    rows, columns = img.shape[-2:]
    bottom, right = top + height, left + width
    inside = img[..., max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
    if top >= 0 and left >= 0 and bottom <= rows and right <= columns:
        return inside
    beside = (
        max(min(right, 0) - left, 0),
        max(right - max(columns, left), 0),
        max(min(bottom, 0) - top, 0),
        max(bottom - max(rows, top), 0),
    )
    return pad_batch(inside, beside)


def resize(
    img: Tensor, size: list[int], interpolation: InterpolationMode, antialias: bool | None = True
) -> Tensor:
    if interpolation not in _SMOOTH + _NEAREST:
        # The v2 interface supports it.
        kind = ValueError if interpolation is InterpolationMode.LANCZOS else NotImplementedError
        raise kind(
            "This interpolation mode is unsupported with Tensor input: "
            f"{interpolation.value}; use nearest, nearest-exact, bilinear or bicubic"
        )
    smooth = interpolation in _SMOOTH
    white = 255 if img.dtype == fb.uint8 and interpolation is InterpolationMode.BICUBIC else None

    def scale(batch: Tensor) -> Tensor:
        scaled = interpolate(
            batch,
            size=tuple(size),
            mode=interpolation.value,
            align_corners=False if smooth else None,
            antialias=smooth and bool(antialias),
        )
        # Bicubic interpolation overshoots beside an edge.
        return scaled if white is None else scaled.clamp(0, white)

    return through_float(img, scale)


def pad(img: Tensor, sides: list[int], fill: float, mode: str) -> Tensor:
    """Pad an image at the left, top, right and bottom; crop it where negative."""
    left, top, right, bottom = sides
    if mode == "symmetric":
        return _pad_symmetric(img, left, top, right, bottom)
    if mode == "constant":
        if isinstance(fill, (tuple, list)):
            if len(fill) != 1:
                raise ValueError(f"one fill value is needed for a tensor, got {fill}")
            fill = fill[0]
        return pad_batch(img, (left, right, top, bottom), value=fill)
    return through_float(
        img, lambda batch: pad_batch(batch, (left, right, top, bottom), mode=_PAD_MODES[mode])
    )


def _pad_symmetric(img: Tensor, left: int, top: int, right: int, bottom: int) -> Tensor:
    rows = _mirrored(img.shape[-2], top, bottom)
    columns = _mirrored(img.shape[-1], left, right)
    return img[..., rows[:, None], columns]


def _mirrored(length: int, before: int, after: int) -> Tensor:
    """Indices along one side, reflected at the outer edge of the last pixel."""
    if max(before, after) > length:
        raise ValueError(f"symmetric padding of {before}, {after} exceeds the {length} pixels")
    places = [*range(before)][::-1] if before > 0 else []
    places += range(max(-before, 0), length - max(-after, 0))
    places += [length - 1 - i for i in range(after)]
    return fb.tensor(places, dtype=fb.int64)
