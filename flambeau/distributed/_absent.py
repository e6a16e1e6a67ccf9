"""Names of ``torch.distributed`` that need several processes: they exist, and say so when used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

__all__: list[str] = []

Function = Callable[..., Any]


def refusal(name: str, instead: str) -> NotImplementedError:
    """What using ``name`` raises."""
    return NotImplementedError(
        f"{name}: several processes that work together are not supported yet; {instead}"
    )


def function(name: str, instead: str) -> Callable[..., Any]:
    """A function that raises, whatever it is called with."""

    def absent(*_: Any, **__: Any) -> NoReturn:
        raise refusal(name, instead)

    absent.__name__ = absent.__qualname__ = name.rpartition(".")[2]
    absent.__doc__ = f"Not there yet; {instead}."
    return absent


def type_without_objects(name: str, instead: str, methods: tuple[str, ...] = ()) -> Any:
    """A class for ``isinstance`` and annotations, without instances."""

    def __new__(cls: Any, *_: Any, **__: Any) -> NoReturn:
        raise refusal(name, instead)

    body: dict[str, Any] = {"__new__": __new__, "__doc__": f"Not there yet; {instead}."}
    for method in methods:
        body[method] = staticmethod(function(f"{name}.{method}", instead))
    return type(name, (), body)
