"""Modules whose attributes are settings: assigned, read back, and refused when they make no sense.

``torch.backends.cudnn.benchmark = True`` is an assignment to a module. A module with such settings
gives itself the class ``SettingsModule``, which looks at what is assigned.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

__all__: list[str] = []

Check = Callable[[str, Any], Any]


def boolean(name: str, value: Any) -> bool:
    """``value`` if it is True or False."""
    if not isinstance(value, bool):
        raise RuntimeError(f"{name}: expected a bool, got {type(value).__name__}")
    return value


def anything(name: str, value: Any) -> Any:
    """``value``, which nothing depends on."""
    return value


def one_of(*choices: str) -> Check:
    """A check for one of these words."""

    def check(name: str, value: Any) -> Any:
        if value not in choices:
            raise RuntimeError(f"{name}: expected one of {', '.join(choices)}, got {value!r}")
        return value

    return check


class Setting:
    """A value that a module keeps, with the check that an assignment has to pass."""

    def __init__(
        self, default: Any, check: Check = boolean, act: Callable[[Any], None] | None = None
    ) -> None:
        self.value = default
        self.check = check
        self.act = act  # does what the value asks for

    def get(self) -> Any:
        return self.value

    def set(self, name: str, value: Any) -> None:
        self._use(self.check(name, value))

    def _use(self, value: Any) -> None:
        self.value = value
        if self.act is not None:
            self.act(value)

    def save(self) -> Any:
        """What ``restore`` takes to bring the setting back."""
        return self.value

    def restore(self, saved: Any) -> None:
        self._use(saved)


class SettingsModule(ModuleType):
    """A module with attributes that are settings."""

    _settings: dict[str, Setting]

    def __getattr__(self, name: str) -> Any:
        settings = self.__dict__.get("_settings", {})
        if name in settings:
            return settings[name].get()
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        settings = self.__dict__.get("_settings", {})
        if name in settings:
            settings[name].set(f"{self.__name__.removeprefix('flambeau.')}.{name}", value)
        else:
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.__dict__.get("_settings", {})]


def keep_settings(module_name: str, settings: dict[str, Setting]) -> None:
    """Make ``settings`` attributes of a module."""
    module = sys.modules[module_name]
    module.__dict__["_settings"] = settings
    module.__class__ = SettingsModule


@contextlib.contextmanager
def temporarily(module_name: str, **values: Any) -> Iterator[None]:
    """Assign settings of a module while a block runs; None leaves one as it is."""
    module = sys.modules[module_name]
    settings: dict[str, Setting] = module.__dict__["_settings"]
    saved = {name: settings[name].save() for name in values}
    try:
        assign(module, values)
        yield
    finally:
        for name, value in saved.items():
            settings[name].restore(value)


def assign(module: ModuleType, values: dict[str, Any]) -> dict[str, Any]:
    """Assign settings of a module and return what they were; None leaves one as it is."""
    before = {name: getattr(module, name) for name in values}
    for name, value in values.items():
        if value is not None:
            setattr(module, name, value)
    return before
