"""Names of devices that this build does not compute on: they exist, and say so when used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

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

        def absent(*_: Any, **__: Any) -> NoReturn:
            raise self.error(name, error)

        return self._named(absent, name, doc)

    def type(
        self,
        name: str,
        doc: str,
        error: type[Exception] | None = None,
        methods: tuple[str, ...] = (),
    ) -> Any:
        """A class for annotations and ``isinstance``, without instances."""

        def __new__(cls: Any, *_: Any, **__: Any) -> NoReturn:
            raise self.error(cls.__name__, error)

        body: dict[str, Any] = {"__new__": __new__, "__doc__": doc, "__module__": self._package}
        for method in methods:
            body[method] = self.function(f"{name}.{method}", f"Needs a {name}.", error)
        return type(name, (), body)

    @property
    def _package(self) -> str:
        return f"flambeau.{self.module}"

    def _named(self, function: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
        function.__name__ = name.rpartition(".")[2]
        function.__qualname__ = name
        function.__module__ = self._package
        function.__doc__ = doc
        return function
