"""Modules of options: ``torch._dynamo.config.cache_size_limit = 64``.

Nothing reads these options yet. They keep what programs assign, so that it can be read back.
"""

from __future__ import annotations

import contextlib
import sys
from types import ModuleType
from typing import Any

__all__: list[str] = []


class ConfigModule(ModuleType):
    """A module whose attributes are options, with ways to change them for a while."""

    def save_config(self) -> dict[str, Any]:
        """All options and their values."""
        return self.get_config_copy()

    def load_config(self, config: dict[str, Any]) -> None:
        """Assign all of these."""
        for name, value in config.items():
            setattr(self, name, value)

    def get_config_copy(self) -> dict[str, Any]:
        """All options and their values."""
        return {name: getattr(self, name) for name in self.__dict__["_options"]}

    def patch(
        self, arg1: str | dict[str, Any] | None = None, arg2: Any = None, **kwargs: Any
    ) -> ConfigPatch:
        """Other values while a block or a function runs: by name, dictionary or keywords."""
        if isinstance(arg1, str):
            return ConfigPatch(self, {arg1: arg2})
        return ConfigPatch(self, {**(arg1 or {}), **kwargs})

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            self.__dict__["_options"].add(name)
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        module = self.__name__.removeprefix("flambeau.")
        raise AttributeError(f"{module} has no option {name!r}; assign it before it is read")


class ConfigPatch(contextlib.ContextDecorator):
    """Options with other values, until it is left."""

    def __init__(self, module: ConfigModule, changes: dict[str, Any]) -> None:
        self.module = module
        self.changes = changes
        self.before: dict[str, Any] = {}

    def __enter__(self) -> None:
        self.before = {name: getattr(self.module, name) for name in self.changes}
        self.module.load_config(self.changes)

    def __exit__(self, *exc_info: object) -> None:
        self.module.load_config(self.before)

    def _recreate_cm(self) -> ConfigPatch:
        # For functions that call themselves: each call goes back to the values before it.
        return ConfigPatch(self.module, self.changes)


def install_config_module(module_name: str, options: dict[str, Any]) -> None:
    """Make a module one of options, with these values at first."""
    module = sys.modules[module_name]
    module.__dict__["_options"] = set(options)
    module.__dict__.update(options)
    module.__class__ = ConfigModule
