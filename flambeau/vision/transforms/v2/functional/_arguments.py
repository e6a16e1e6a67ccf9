"""Arguments of functionals that may be written in several ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from flambeau.vision.transforms._image import InterpolationMode, interpolation_of

__all__ = ["Interpolation", "mode_of", "pair_of", "sides_of"]

Interpolation: TypeAlias = "InterpolationMode | str | int"
_NAMES = {mode.value: mode for mode in InterpolationMode}


def mode_of(interpolation: Interpolation) -> InterpolationMode:
    """An interpolation mode, also from its name or Pillow's code for it."""
    if isinstance(interpolation, InterpolationMode):
        return interpolation
    if interpolation in _NAMES:
        return _NAMES[interpolation]
    try:
        return interpolation_of(interpolation)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(
            "Argument interpolation should be an `InterpolationMode`, its number in Pillow or one "
            f"of {', '.join(_NAMES)}, got {interpolation!r}"
        ) from None


def pair_of(size: Any, name: str = "size") -> tuple[int, int]:
    """(height, width), also from one number for both."""
    if isinstance(size, (int, float)):
        return int(size), int(size)
    if not isinstance(size, Sequence):
        raise TypeError(f"{name} should be a number or a sequence (height, width), got {size!r}")
    if len(size) not in (1, 2):
        raise ValueError(f"{name} should have 1 or 2 numbers (height, width), got {size!r}")
    return int(size[0]), int(size[-1])


def sides_of(padding: int | Sequence[int]) -> list[int]:
    """Left, top, right and bottom: from one number, (left and right, top and bottom), or four."""
    if isinstance(padding, int):
        return [padding] * 4
    if not isinstance(padding, (list, tuple)):
        raise TypeError(f"`padding` should be an integer or a sequence, got {padding!r}")
    if len(padding) not in (1, 2, 4):
        raise ValueError(
            f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(padding)} element "
            "tuple"
        )
    return [int(side) for side in padding] * (4 // len(padding))
