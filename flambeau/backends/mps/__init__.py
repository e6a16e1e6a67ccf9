"""Whether tensors can live on the GPU of an Apple machine."""

from __future__ import annotations

from flambeau._limits.refusing import Function, refused

__all__ = [
    "get_core_count",
    "get_name",
    "is_available",
    "is_built",
    "is_macos13_or_newer",
    "is_macos_or_newer",
]


def is_built() -> bool:
    """Whether this build can compute there."""
    return False


def is_available() -> bool:
    """Return whether tensors can live on the GPU of an Apple computer.

    Example:
        >>> device = "mps" if torch.backends.mps.is_available() else "cpu"
        >>> torch.ones(2, device=device).device.type == device
        True
    """
    return False


get_name: Function = refused("backends.mps.get_name")
get_core_count: Function = refused("backends.mps.get_core_count")
is_macos_or_newer: Function = refused("backends.mps.is_macos_or_newer")
is_macos13_or_newer: Function = refused("backends.mps.is_macos13_or_newer")
