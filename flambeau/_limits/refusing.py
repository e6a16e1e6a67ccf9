"""Functions and classes that exist only to say what is missing: using one raises an error.

Their messages are in the table `REFUSALS`. The audit of a program recognises them by their
annotation, ``NoReturn``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from flambeau._limits.refusals import REFUSALS

__all__: list[str] = []

Function = Callable[..., Any]


def refusal(name: str, error: type[Exception] | None = None) -> Exception:
    """The error that using a name raises; members of a refused class are refused for its reason."""
    where, _, last = name.rpartition(".")
    while last not in REFUSALS.get(where, ()):
        if not where:
            raise KeyError(name)
        where, _, last = where.rpartition(".")
    reason, usual, _ = REFUSALS[where][last]
    return (error or usual)(f"{name.removeprefix('Tensor.')}: {reason}")


def refused(name: str) -> Function:
    """A function that raises, whatever it is called with."""
    return _function(name, doc_of(name))


def refused_in(where: str) -> dict[str, Function]:
    """The functions of a module or class in the table, ``""`` for those of ``torch``."""
    prefix = f"{where}." if where else ""
    return {name: refused(prefix + name) for name in REFUSALS[where]}


def refused_type(name: str, methods: tuple[str, ...] = ()) -> Any:
    """A class for annotations and ``isinstance``: making an object or calling a method raises."""

    def __new__(cls: Any, *_: Any, **__: Any) -> NoReturn:
        raise refusal(name)

    where, _, last = name.rpartition(".")
    members: dict[str, Any] = {
        method: staticmethod(_function(f"{name}.{method}", f"Needs a {last}."))
        for method in methods
    }
    members |= {"__new__": __new__, "__doc__": doc_of(name), "__module__": f"flambeau.{where}"}
    return type(last, (), members)


def doc_of(name: str) -> str:
    """The docstring of a name."""
    where, _, last = name.rpartition(".")
    reason, _, text = REFUSALS[where][last]
    return text or f"Not available: {reason}."


def _function(name: str, doc: str) -> Function:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise refusal(name)

    where, _, last = name.rpartition(".")
    refuse.__name__ = refuse.__qualname__ = last
    refuse.__module__ = f"flambeau.{where}" if where else "flambeau"
    refuse.__doc__ = doc
    return refuse
