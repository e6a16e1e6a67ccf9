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
    row = name
    while row not in REFUSALS:
        row = row.rpartition(".")[0]
    reason, usual, _ = REFUSALS[row]
    return (error or usual)(f"{name.removeprefix('Tensor.')}: {reason}")


def refused(name: str) -> Function:
    """A function that raises, whatever it is called with."""
    return _function(name, REFUSALS[name][2])


def refused_in(where: str) -> dict[str, Function]:
    """The functions of a module or class that the table has, ``""`` for those of ``torch``."""
    rows = (name.rpartition(".") for name in REFUSALS)
    return {name: refused(f"{home}{dot}{name}") for home, dot, name in rows if home == where}


def refused_type(name: str, methods: tuple[str, ...] = ()) -> Any:
    """A class for annotations and ``isinstance``: to make an object or call a method raises."""

    def __new__(cls: Any, *_: Any, **__: Any) -> NoReturn:
        raise refusal(name)

    _, _, last = name.rpartition(".")
    members: dict[str, Any] = {
        method: staticmethod(_function(f"{name}.{method}", f"Needs a {last}."))
        for method in methods
    }
    members |= {"__new__": __new__, "__doc__": REFUSALS[name][2], "__module__": _home(name)}
    return type(last, (), members)


def _function(name: str, doc: str) -> Function:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise refusal(name)

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    refuse.__module__ = _home(name)
    refuse.__doc__ = doc
    return refuse


def _home(name: str) -> str:
    """The module that a name below ``torch`` is found in."""
    return f"flambeau.{name.rpartition('.')[0]}".rstrip(".")
