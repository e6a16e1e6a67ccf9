"""NVIDIA's library of half-sparse products, which this build does not use."""

from __future__ import annotations

__all__ = ["get_max_alg_id", "is_available", "version"]


def is_available() -> bool:
    """Whether the library is there."""
    return False


def version() -> int | None:
    """Its version: None without it."""
    return None


def get_max_alg_id() -> int | None:
    """How many algorithms it has: None without it."""
    return None
