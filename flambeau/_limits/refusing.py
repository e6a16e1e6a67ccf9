"""Names that are there to say what is missing: using one raises an error with the remedy.

The audit of a program tells them from others by their annotation, ``NoReturn``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

__all__: list[str] = []


def refusing_function(name: str, refusal: Callable[[], Exception], doc: str) -> Callable[..., Any]:
    """A function that raises what ``refusal`` returns, whatever it is called with."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise refusal()

    refuse.__name__ = name.rpartition(".")[2]
    refuse.__qualname__ = name
    refuse.__doc__ = doc
    return refuse


def refusing_type(
    name: str, refusal: Callable[[], Exception], doc: str, methods: dict[str, Any] | None = None
) -> Any:
    """A class for annotations and ``isinstance``: making an object raises."""

    def __new__(cls: Any, *_: Any, **__: Any) -> NoReturn:
        raise refusal()

    return type(name, (), {"__new__": __new__, "__doc__": doc, **(methods or {})})
