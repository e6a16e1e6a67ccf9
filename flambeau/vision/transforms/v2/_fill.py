"""Fill values of pixels from outside of an image, also by type of input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["fill_for", "fills_of"]


def fills_of(fill: Any) -> dict[Any, Any]:
    """The fill for every type of input; ``"others"`` is for those that are not named."""
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
    """The fill for one input; 0 for a type that is not named."""
    for kind in type(inpt).__mro__:
        if kind in fills:
            return fills[kind]
    return fills.get("others", 0)
