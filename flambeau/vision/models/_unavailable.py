"""Networks of torchvision that are not here: they say so when they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flambeau._refusing import refusing_function

__all__ = ["unavailable"]


def unavailable(package: str, names: str, instead: str) -> dict[str, Callable[..., Any]]:
    """A function that raises NotImplementedError for each of the names."""
    return {name: _refusing(f"{package}.{name}", instead) for name in names.split()}


def _refusing(name: str, instead: str) -> Callable[..., Any]:
    def refusal() -> NotImplementedError:
        return NotImplementedError(f"models.{name} is not part of Flambeau yet: {instead}")

    return refusing_function(name, refusal, f"Not there yet: {instead}.")
