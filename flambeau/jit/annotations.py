"""Names of types that scripts import from here."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035 - what programs import

from flambeau import Tensor
from flambeau.futures import Future

__all__ = ["Any", "Dict", "Future", "List", "Optional", "Tensor", "Tuple", "Union"]


class Module:
    """A module and its members, by name."""

    def __init__(self, name: str, members: dict[str, Any]) -> None:
        self.name = name
        self.members = members

    def __getattr__(self, name: str) -> Any:
        try:
            return self.members[name]
        except KeyError:
            raise RuntimeError(f"Module {self.name} has no member called {name}") from None
