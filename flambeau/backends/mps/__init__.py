"""Whether tensors can live on the GPU of an Apple machine."""

from __future__ import annotations

from flambeau._absent import Function
from flambeau.mps import MPS

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


get_name: Function = MPS.function("get_name", "The name of the GPU.")
get_core_count: Function = MPS.function("get_core_count", "The cores of the GPU.")
is_macos_or_newer: Function = MPS.function("is_macos_or_newer", "Whether the system is that new.")
is_macos13_or_newer: Function = MPS.function(
    "is_macos13_or_newer", "Whether the system is that new."
)
