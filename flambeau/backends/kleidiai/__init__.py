"""Arm's library of kernels, which Flambeau does not use."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether the library is there."""
    return False
