"""Modules and names of a package that are loaded on first access."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__: list[str] = []


def lazy(
    package: str, modules: str, names: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a package.

    ``modules`` are the package's own; ``names`` lists, for other modules, which of their names the
    package exports too. Type checkers do not look here: they read imports of the same names, below
    ``if TYPE_CHECKING:``.
    """
    homes = {name: home for home, some in (names or {}).items() for name in some.split()}
    own = frozenset(modules.split())

    def __getattr__(name: str) -> Any:
        if name in own:
            return import_module(f"{package}.{name}")
        if name in homes:
            return getattr(import_module(homes[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    __getattr__.names = own | homes.keys()  # type: ignore[attr-defined]
    return __getattr__
