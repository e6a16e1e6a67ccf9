"""Finding what a dotted name of PyTorch's stands for in Flambeau."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from flambeau.compat._packages import PACKAGES

__all__ = ["ABSENT", "declares", "resolve"]


class _Absent:
    def __repr__(self) -> str:
        return "<absent>"


ABSENT = _Absent()


def resolve(name: str) -> Any:
    """The object that ``torch.nn.Linear`` and the like name here, or ``ABSENT``."""
    top, *parts = name.split(".")
    value: Any = _module(PACKAGES[top].here)
    while parts[:1] == [top]:  # torch.torch is torch
        del parts[0]
    for part in parts:
        if value is ABSENT:
            break
        value = _member(value, part)
    return value


def declares(owner: Any, attribute: str) -> bool:
    """Whether a class says that its objects have an attribute, which it has not itself."""
    if not isinstance(owner, type):
        return False
    return any(attribute in vars(each).get("__annotations__", {}) for each in owner.__mro__)


def _member(value: Any, name: str) -> Any:
    try:
        return getattr(value, name)
    except AttributeError:
        # It may be a module that nobody has imported yet.
        is_package = isinstance(value, ModuleType) and hasattr(value, "__path__")
        return _module(f"{value.__name__}.{name}") if is_package else ABSENT


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            return ABSENT
        raise
