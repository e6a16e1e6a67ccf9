"""Random numbers, drawn one at a time from the default generator."""

from __future__ import annotations

import flambeau as fb

__all__ = ["below", "chance", "uniform"]


def uniform(low: float, high: float) -> float:
    """Draw a number between two bounds."""
    return float(fb.empty(1).uniform_(float(low), float(high)).item())


def below(count: int) -> int:
    """Draw an integer from 0 to one less than `count`."""
    return int(fb.randint(0, count, size=(1,)).item())


def chance(probability: float) -> bool:
    """Return True with the given probability."""
    return bool(fb.rand(1).item() < probability)
