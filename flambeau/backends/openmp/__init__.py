"""The OpenMP run time, which Flambeau's threads do without."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether operators run on OpenMP's threads. They run on threads of a pool of their own."""
    return False
