"""Image files read by the core; JPEG by Pillow if the core was built without libjpeg-turbo."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from flambeau import _C, Tensor
from flambeau.vision.io import _pillow
from flambeau.vision.io._files import check_bytes, check_elements
from flambeau.vision.io._modes import ImageReadMode

__all__ = ["decode_jpeg", "decode_png", "encode_jpeg"]

_HAS_JPEG = _C._build()["jpeg"] is not None
_JPEG_MODES = (ImageReadMode.UNCHANGED, ImageReadMode.GRAY, ImageReadMode.RGB)
# What Pillow takes for an attack: twice its limit, which is a quarter of a GiB in RGB.
_MOST_PIXELS = 2 * (1024 * 1024 * 1024 // 4 // 3)


def decode_jpeg(
    files: Sequence[Tensor], names: list[str], mode: ImageReadMode, upright: bool
) -> list[Tensor]:
    """Decode JPEG files, all at once."""
    data = [check_bytes(each, name) for each, name in zip(files, names, strict=True)]
    if mode not in _JPEG_MODES:
        raise RuntimeError(f"{names[0]}: The provided mode is not supported for JPEG files: {mode}")
    if _HAS_JPEG:
        return _C._decode_jpeg(data, names, mode.value, upright, _most_pixels())
    return [
        _pillow.decode(each, mode, upright, name, ["JPEG"])
        for each, name in zip(data, names, strict=True)
    ]


def decode_png(file: Tensor, name: str, mode: ImageReadMode, upright: bool) -> Tensor:
    """Decode a PNG file."""
    data = check_bytes(file, name)
    return _C._decode_png([data], [name], mode.value, upright, _most_pixels())[0]


def encode_jpeg(images: list[Tensor], quality: int) -> list[Tensor]:
    """Encode images as JPEG files, all at once."""
    for each in images:
        if isinstance(each, Tensor):  # others are refused by name
            check_elements(each)
    if _HAS_JPEG:
        return _C._encode_jpeg(images, quality)
    return [_pillow.encode(each, format="JPEG", quality=quality) for each in images]


def _most_pixels() -> int:
    """Pillow's limit, which programs raise if they trust their files; Pillow may be absent."""
    module = sys.modules.get("PIL.Image")
    if module is None:
        return _MOST_PIXELS
    limit = module.MAX_IMAGE_PIXELS
    return sys.maxsize if limit is None else int(2 * limit)
