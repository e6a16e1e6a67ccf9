"""The channels that an image can be read with."""

from __future__ import annotations

from enum import Enum

__all__ = ["ImageReadMode", "read_mode"]


class ImageReadMode(Enum):
    """Channels that an image is read with, whatever channels the file has."""

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4
    RGBA = RGB_ALPHA


def read_mode(mode: ImageReadMode | str) -> ImageReadMode:
    """Return the mode of that name; KeyError if there is none."""
    if isinstance(mode, ImageReadMode):
        return mode
    if not isinstance(mode, str):
        raise TypeError(f"mode should be an ImageReadMode or its name, got {type(mode).__name__}")
    try:
        return ImageReadMode[mode.upper()]
    except KeyError:
        names = ", ".join(ImageReadMode.__members__)
        raise KeyError(f"{mode!r} is no mode of reading images: choose one of {names}") from None
