"""The run time that spreads loops over threads."""

from __future__ import annotations

from flambeau._C import _build

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether this build uses OpenMP."""
    return bool(_build()["openmp"])
