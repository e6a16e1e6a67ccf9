"""Functions and classes that are there to say what is missing: using one raises an error.

What they say is in the table `REFUSALS`. The audit of a program tells them from others by their
annotation, ``NoReturn``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from flambeau._limits.refusals import REFUSALS

__all__: list[str] = []

Function = Callable[..., Any]


def refusal(name: str, error: type[Exception] | None = None) -> Exception:
    """What using a name raises; what a refused class has is refused for the same reason."""
    where, _, last = name.rpartition(".")
    while last not in REFUSALS.get(where, ()):
        where, _, last = where.rpartition(".")
    reason, usual, _ = REFUSALS[where][last]
    return (error or usual)(f"{name.removeprefix('Tensor.')}: {reason}")


def refused(name: str) -> Function:
    """A function that raises, whatever it is called with."""
    return _function(name, doc_of(name))


def refused_in(where: str) -> dict[str, Function]:
    """The functions of a module or class that the table has, ``""`` for those of ``torch``."""
    prefix = f"{where}." if where else ""
    return {name: refused(prefix + name) for name in REFUSALS[where]}


def refused_type(name: str, methods: tuple[str, ...] = ()) -> Any:
    """A class for annotations and ``isinstance``: to make an object or call a method raises."""

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
    """What help says of a name."""
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
