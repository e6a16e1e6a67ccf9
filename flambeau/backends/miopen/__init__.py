"""Settings of AMD's library of neural-network kernels, which this build does not use."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Any

from flambeau.backends._settings import Setting, assign, keep_settings, temporarily

__all__ = ["flags", "immediate", "set_flags"]

immediate: bool


def set_flags(_immediate: bool | None = None) -> tuple[Any, ...]:
    """Assign the setting and return what it was."""
    return tuple(assign(sys.modules[__name__], {"immediate": _immediate}).values())


def flags(immediate: bool = False) -> AbstractContextManager[None]:
    """A block with this setting; the one after it is the one before."""
    return temporarily(__name__, immediate=immediate)


keep_settings(__name__, {"immediate": Setting(False)})
