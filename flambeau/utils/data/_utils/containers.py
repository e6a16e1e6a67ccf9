"""Containers rebuilt with other items, for collating, converting and pinning."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

__all__ = ["map_items", "mapping_like", "sequence_like"]


def mapping_like(model: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    """A mapping of `model`'s type with `items`, or the plain dict if the type cannot be made so."""
    if type(model) is dict:
        return items
    try:
        if isinstance(model, MutableMapping):
            # A copy keeps what else the type holds, such as the factory of a defaultdict.
            clone = copy.copy(model)
            clone.update(items)
            return clone
        return type(model)(items)  # type: ignore[call-arg]
    except TypeError:
        return items


def sequence_like(model: Sequence[Any], items: list[Any]) -> Any:
    """A sequence of `model`'s type with `items`, or the plain list if it cannot be made so."""
    if type(model) is list:
        return items
    try:
        if isinstance(model, MutableSequence):
            clone = copy.copy(model)
            for i, item in enumerate(items):
                clone[i] = item
            return clone
        return type(model)(items)  # type: ignore[call-arg]
    except TypeError:  # for example a range
        return items


def map_items(data: Any, function: Callable[[Any], Any], *, tuples: bool) -> Any:
    """Apply `function` to the items of `data`; return what has no items as it is.

    A plain tuple becomes a list unless `tuples`: that is what PyTorch makes of one when it
    collates, and what programs rely on.
    """
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, Mapping):
        return mapping_like(data, {key: function(data[key]) for key in data})
    if isinstance(data, tuple):
        items = [function(item) for item in data]
        if hasattr(data, "_fields"):
            return type(data)(*items)
        return type(data)(items) if tuples else items
    if isinstance(data, Sequence):
        return sequence_like(data, [function(item) for item in data])
    return data
