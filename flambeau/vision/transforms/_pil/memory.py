"""The memory in which Pillow keeps an image."""

from __future__ import annotations

from typing import Any

from flambeau import _C, Tensor

__all__ = ["shown_pixels"]

# Pillow's bytes per pixel in each mode, in the order of its bands.
_PIXEL_BYTES = {
    "L": 1,
    "P": 1,
    "RGB": 4,
    "RGBA": 4,
    "RGBX": 4,
    "CMYK": 4,
    "YCbCr": 4,
    "HSV": 4,
    "LAB": 4,
}


def shown_pixels(img: Any) -> Tensor | None:
    """Return the memory of an image, (height, width, bytes of a pixel), read-only.

    None if Pillow does not expose it: before version 11.2, and for images so large that they are
    in several blocks.
    """
    size = _PIXEL_BYTES.get(img.mode)
    show = getattr(img, "__arrow_c_array__", None)
    if size is None or show is None or 0 in img.size:
        return None
    img.load()
    # Before version 13 Pillow crashes when asked for memory that is not its own.
    if img.readonly:
        return None
    try:
        capsules = show()
    except ValueError:
        return None
    return _C._from_arrow(*capsules).view(img.height, img.width, size)
