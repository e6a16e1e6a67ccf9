"""Random numbers, drawn one at a time from the default generator."""

from __future__ import annotations

import flambeau as fb

__all__ = ["below", "chance", "uniform"]


def uniform(low: float, high: float) -> float:
    """A number between two others."""
    return float(fb.empty(1).uniform_(float(low), float(high)).item())


def below(count: int) -> int:
    """A whole number from 0 to one less than `count`."""
    return int(fb.randint(0, count, size=(1,)).item())


def chance(probability: float) -> bool:
    """True in that share of the calls."""
    return bool(fb.rand(1).item() < probability)
