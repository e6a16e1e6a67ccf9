"""Names of ``torch.distributed`` that need several processes: they exist, and say so when used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flambeau._limits.refusing import refusing_function, refusing_type

__all__: list[str] = []

Function = Callable[..., Any]


def refusal(name: str, instead: str) -> NotImplementedError:
    """What using ``name`` raises."""
    return NotImplementedError(
        f"{name}: several processes that work together are not supported yet; {instead}"
    )


def function(name: str, instead: str) -> Callable[..., Any]:
    """A function that raises, whatever it is called with."""
    return refusing_function(name, lambda: refusal(name, instead), f"Not there yet; {instead}.")


def type_without_objects(name: str, instead: str, methods: tuple[str, ...] = ()) -> Any:
    """A class for ``isinstance`` and annotations, without instances."""
    refused = {method: staticmethod(function(f"{name}.{method}", instead)) for method in methods}
    doc = f"Not there yet; {instead}."
    return refusing_type(name, lambda: refusal(name, instead), doc, refused)
