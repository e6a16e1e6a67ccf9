"""Processes that :mod:`multiprocessing` starts afresh take the hook over.

Such a process is sent a dictionary before it imports the program's main module. An object in it
that installs the hook when it is unpickled comes early enough for that module's ``import torch``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["carry_to_children", "stay_out_of_children"]

_KEY = "flambeau_compat"
_original: Any = None  # the function of `multiprocessing`, while the one here stands in its place


class _Call:
    """Pickled here, it calls a function there."""

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return self._function, ()


def carry_to_children(function: Callable[[], None]) -> None:
    """Call ``function`` in every process that starts afresh from now on."""
    global _original
    from multiprocessing import spawn

    original = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        return {_KEY: _Call(function), **original(name)}

    _original = original
    spawn.get_preparation_data = get_preparation_data


def stay_out_of_children() -> None:
    """Undo ``carry_to_children``."""
    global _original
    from multiprocessing import spawn

    if _original is not None:
        spawn.get_preparation_data = _original
        _original = None
