"""Whether attention layers may take their quick way in evaluation."""

from __future__ import annotations

__all__ = ["get_fastpath_enabled", "set_fastpath_enabled"]

_is_fastpath_enabled = True


def get_fastpath_enabled() -> bool:
    """What was set last, True at first."""
    return _is_fastpath_enabled


def set_fastpath_enabled(value: bool) -> None:
    """Kept for programs that set it: there is one way, and it is the quick one."""
    global _is_fastpath_enabled
    _is_fastpath_enabled = value
