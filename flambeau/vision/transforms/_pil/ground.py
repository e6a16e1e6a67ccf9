"""The fill colour of pixels from outside of an image."""

from __future__ import annotations

from typing import Any

__all__ = ["ground_of"]


def ground_of(img: Any, fill: Any) -> Any:
    """A fill value as Pillow takes it: one number, or one for every band."""
    bands = len(img.getbands())
    whole = img.mode != "F"
    if fill is None:
        fill = 0
    if isinstance(fill, (int, float)):
        fill = (fill,) * bands if bands > 1 else fill
    elif len(fill) == 1:
        fill = tuple(fill) * bands if bands > 1 else fill[0]
    elif len(fill) != bands:
        raise ValueError(
            "The number of elements in 'fill' does not match the number of channels of the image "
            f"({len(fill)} != {bands})"
        )
    if isinstance(fill, (int, float)):
        return int(fill) if whole else float(fill)
    return tuple(int(value) for value in fill) if whole else tuple(fill)
