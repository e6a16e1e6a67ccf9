"""What ``importlib.metadata`` says about the packages that Flambeau stands in for."""

from __future__ import annotations

from importlib.metadata import Distribution
from typing import Any

from flambeau.compat._packages import PACKAGES

__all__ = ["StandIn"]


class StandIn(Distribution):
    """The metadata of a package that is not installed but served: its name and its version."""

    def __init__(self, name: str) -> None:
        self._name = name

    def read_text(self, filename: str) -> str | None:
        if filename != "METADATA":
            return None
        return (
            f"Metadata-Version: 2.1\nName: {self._name}\n"
            f"Version: {PACKAGES[self._name].version}\nSummary: served by Flambeau\n"
        )

    def locate_file(self, path: object) -> Any:
        raise FileNotFoundError(f"{self._name} is served by Flambeau and has no file {path}")
