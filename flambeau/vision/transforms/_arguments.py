"""Arguments of transforms that may be one number or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["angles_of", "size_of"]


def size_of(size: Any, message: str) -> tuple[int, int]:
    """(height, width), also from one number for both."""
    if isinstance(size, (int, float)):
        return int(size), int(size)
    if isinstance(size, Sequence) and len(size) == 1:
        return size[0], size[0]
    if not isinstance(size, Sequence):
        raise TypeError(f"{message}, got {size!r}")
    if len(size) != 2:
        raise ValueError(f"{message}, got {size!r}")
    return size[0], size[1]


def angles_of(value: Any, name: str, lengths: tuple[int, ...] = (2,)) -> list[float]:
    """The range of an angle, also from one number for both directions."""
    if isinstance(value, (int, float)):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be positive, got {value}")
        return [-float(value), float(value)]
    if not isinstance(value, Sequence):
        raise TypeError(f"{name} should be a number or a sequence, got {value!r}")
    if len(value) not in lengths:
        wanted = " or ".join(map(str, lengths))
        raise ValueError(f"{name} should be a sequence of length {wanted}, got {value}")
    return [float(number) for number in value]
