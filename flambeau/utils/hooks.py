"""Handles that remove hooks."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, MutableMapping
from typing import Any

__all__ = ["RemovableHandle"]

_numbers = itertools.count()


class RemovableHandle:
    """What registering a hook returns: ``remove()`` takes the hook away, and so does ``with``."""

    def __init__(self, hooks_dict: MutableMapping[int, Any], *, extra_dict: Any = None) -> None:
        self.id: int = next(_numbers)
        self._hooks = _reference(hooks_dict)
        extras = extra_dict if isinstance(extra_dict, list) else [extra_dict] if extra_dict else []
        self._extras = [_reference(extra) for extra in extras]

    def remove(self) -> None:
        for reference in (self._hooks, *self._extras):
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def _reference(hooks: MutableMapping[int, Any]) -> Callable[[], MutableMapping[int, Any] | None]:
    """A weak reference: a handle must not keep what it was registered on."""
    try:
        return weakref.ref(hooks)
    except TypeError:  # a plain dict
        return lambda: hooks


def register_in(hooks: MutableMapping[int, Any], hook: Any) -> RemovableHandle:
    """Puts a hook into a dictionary of hooks."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle
