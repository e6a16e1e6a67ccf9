"""What is put where an image has no pixels, also by kind of input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["fill_for", "fills_of"]


def fills_of(fill: Any) -> dict[Any, Any]:
    """The fill of every kind of input; ``"others"`` is for those that are not named."""
    if not isinstance(fill, Mapping):
        return {"others": _checked(fill)}
    return {kind: _checked(value) for kind, value in fill.items()}


def _checked(fill: Any) -> Any:
    if fill is None or isinstance(fill, (int, float)):
        return fill
    if not isinstance(fill, (tuple, list)):
        raise TypeError(
            "Got inappropriate fill arg, only Numbers, tuples, lists and dicts are allowed, got "
            f"{fill!r}."
        )
    return [float(value) for value in fill]


def fill_for(fills: dict[Any, Any], inpt: Any) -> Any:
    """The fill for one input; what is not named is filled with nothing."""
    for kind in type(inpt).__mro__:
        if kind in fills:
            return fills[kind]
    return fills.get("others", 0)
