"""Settings of NNPACK, a library that Flambeau does not use."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Any

from flambeau.backends._settings import Setting, assign, keep_settings, temporarily

__all__ = ["enabled", "flags", "is_available", "set_flags"]

enabled: bool


def is_available() -> bool:
    """Whether the library is there."""
    return False


def set_flags(_enabled: bool) -> tuple[Any, ...]:
    """Assign the setting and return what it was."""
    return tuple(assign(sys.modules[__name__], {"enabled": _enabled}).values())


def flags(enabled: bool = False) -> AbstractContextManager[None]:
    """A block with this setting; the one after it is the one before."""
    return temporarily(__name__, enabled=enabled)


keep_settings(__name__, {"enabled": Setting(True)})
