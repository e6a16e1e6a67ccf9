"""Networks of torchvision that are not here: they say so when they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["unavailable"]


def unavailable(package: str, names: str, instead: str) -> dict[str, Callable[..., Any]]:
    """A function that raises NotImplementedError for each of the names."""
    return {name: _refusing(f"{package}.{name}", instead) for name in names.split()}


def _refusing(name: str, instead: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"models.{name} is not part of Flambeau yet: {instead}")

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    return refuse
