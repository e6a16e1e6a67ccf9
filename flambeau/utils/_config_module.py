"""Modules of options: ``torch._dynamo.config.cache_size_limit = 64``.

They keep what programs assign, so that it can be read back, and refuse names that PyTorch does not
have. Few of them are read: functions run eagerly (see ``torch.compile``).
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from types import ModuleType
from typing import Any, NamedTuple

__all__: list[str] = []


class Alias(NamedTuple):
    """An option that is another one, given by its module and name."""

    place: str


class ConfigModule(ModuleType):
    """A module whose attributes are options, with ways to change them temporarily.

    Options of a group have its name before a dot: ``triton.cudagraphs``.
    """

    _options: dict[str, Any]

    def save_config(self) -> dict[str, Any]:
        """All options and their values."""
        return self.get_config_copy()

    def load_config(self, config: dict[str, Any]) -> None:
        """Assign all of these."""
        for name, value in config.items():
            self._write(name, value)

    def get_config_copy(self) -> dict[str, Any]:
        """All options and their values."""
        return {name: self._read(name) for name in self._options}

    def patch(
        self, arg1: str | dict[str, Any] | None = None, arg2: Any = None, **kwargs: Any
    ) -> ConfigPatch:
        """Set other values while a block or a function runs: by name, dictionary or keywords."""
        if isinstance(arg1, str):
            return ConfigPatch(self, {arg1: arg2})
        return ConfigPatch(self, {**(arg1 or {}), **kwargs})

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            super().__setattr__(name, value)
        else:
            self._write(name, value)

    def __getattr__(self, name: str) -> Any:
        if any(option.startswith(f"{name}.") for option in self._options):
            return ConfigGroup(self, name)
        return self._read(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(option.partition(".")[0] for option in self._options)]

    def _read(self, name: str) -> Any:
        self._check(name)
        value = self._options[name]
        return getattr(*_target(value)) if isinstance(value, Alias) else value

    def _write(self, name: str, value: Any) -> None:
        self._check(name)
        if isinstance(self._options[name], Alias):
            setattr(*_target(self._options[name]), value)
        else:
            self._options[name] = value

    def _check(self, name: str) -> None:
        if name not in self.__dict__["_options"]:
            module = self.__name__.replace("flambeau.", "torch.", 1)
            raise AttributeError(f"{module}.{name} does not exist")


class ConfigGroup:
    """Options with a name in common: ``torch._inductor.config.triton``."""

    def __init__(self, module: ConfigModule, name: str) -> None:
        object.__setattr__(self, "_place", (module, name))

    def __getattr__(self, name: str) -> Any:
        module, group = object.__getattribute__(self, "_place")
        return module._read(f"{group}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        module, group = object.__getattribute__(self, "_place")
        module._write(f"{group}.{name}", value)


def _target(alias: Alias) -> tuple[Any, str]:
    module, _, name = alias.place.rpartition(".")
    return importlib.import_module(f"flambeau.{module}"), name


class ConfigPatch(contextlib.ContextDecorator):
    """Context with other values of options."""

    def __init__(self, module: ConfigModule, changes: dict[str, Any]) -> None:
        self.module = module
        self.changes = changes
        self.before: dict[str, Any] = {}

    def __enter__(self) -> None:
        self.before = {name: self.module._read(name) for name in self.changes}
        self.module.load_config(self.changes)

    def __exit__(self, *exc_info: object) -> None:
        self.module.load_config(self.before)

    def _recreate_cm(self) -> ConfigPatch:
        # For recursive functions: each call restores the values before it.
        return ConfigPatch(self.module, self.changes)


def install_config_module(module_name: str, options: dict[str, Any]) -> None:
    """Turn a module into one of options, with these defaults."""
    module = sys.modules[module_name]
    module.__dict__["_options"] = options
    module.__class__ = ConfigModule
