"""Names of devices that this build does not compute on: they exist, and say so when used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flambeau._limits.refusing import refusing_function, refusing_type

__all__: list[str] = []

Function = Callable[..., Any]


class Absent:
    """Makes the functions and classes of one module whose device is not there.

    ``error`` is the class that PyTorch raises in its build for CPUs, which programs may catch.
    """

    def __init__(self, module: str, remedy: str, error: type[Exception] = AssertionError) -> None:
        self.module = module
        self.remedy = remedy
        self.error_type = error

    def error(self, name: str, error: type[Exception] | None = None) -> Exception:
        """What using ``name`` raises."""
        return (error or self.error_type)(
            f"{self.module}.{name}: this build of Flambeau computes on the CPU; {self.remedy}"
        )

    def function(
        self, name: str, doc: str, error: type[Exception] | None = None
    ) -> Callable[..., Any]:
        """A function that raises, whatever it is called with."""
        function = refusing_function(name, lambda: self.error(name, error), doc)
        function.__module__ = self._package
        return function

    def type(
        self,
        name: str,
        doc: str,
        error: type[Exception] | None = None,
        methods: tuple[str, ...] = (),
    ) -> Any:
        """A class for annotations and ``isinstance``, without instances."""
        refused = {
            method: self.function(f"{name}.{method}", f"Needs a {name}.", error)
            for method in methods
        }
        kind = refusing_type(name, lambda: self.error(name, error), doc, refused)
        kind.__module__ = self._package
        return kind

    @property
    def _package(self) -> str:
        return f"flambeau.{self.module}"


ACCELERATOR = Absent("accelerator", "ask torch.accelerator.is_available() first", RuntimeError)
