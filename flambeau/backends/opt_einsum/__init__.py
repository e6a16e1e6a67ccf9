"""The order of products in ``einsum``, which Flambeau chooses without the package opt_einsum."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import Any

from flambeau.backends._settings import Setting, anything, assign, keep_settings, temporarily

__all__ = ["enabled", "flags", "get_opt_einsum", "is_available", "set_flags", "strategy"]

enabled: bool
strategy: str | None


def is_available() -> bool:
    """Whether the package is used."""
    return False


def get_opt_einsum() -> Any:
    """The package, if it is used."""
    return None


def set_flags(_enabled: bool | None = None, _strategy: str | None = None) -> tuple[Any, ...]:
    """Assign several settings and return what they were."""
    values = {"enabled": _enabled, "strategy": _strategy}
    return tuple(assign(sys.modules[__name__], values).values())


def flags(enabled: bool | None = None, strategy: str | None = None) -> AbstractContextManager[None]:
    """A block with these settings; those after it are the ones before."""
    return temporarily(__name__, enabled=enabled, strategy=strategy)


keep_settings(__name__, {"enabled": Setting(False, anything), "strategy": Setting(None, anything)})
