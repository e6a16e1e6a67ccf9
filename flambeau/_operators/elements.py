"""Python functions called with every element: ``apply_``, ``map_`` and ``map2_``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor


def apply_(input: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element by ``callable(element)``."""
    return _replace("apply_", input, (), callable)


def map_(input: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element by ``callable(element, element of tensor)``."""
    return _replace("map_", input, (tensor,), callable)


def map2_(input: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replace each element by ``callable(element, element of x, element of y)``."""
    return _replace("map2_", input, (x, y), callable)


def _replace(
    name: str, input: Tensor, others: tuple[Tensor, ...], function: Callable[..., Any]
) -> Tensor:
    if any(each.requires_grad for each in (input, *others)):
        raise RuntimeError(
            f"Can't call {name}() on a tensor that requires grad. "
            f"Use tensor.detach().{name}() instead."
        )
    for other in others:
        if other.dtype != input.dtype:
            raise TypeError(f"{name}: expected a tensor of {input.dtype}, got {other.dtype}")
    _C._note_read(name, input)
    columns = [input, *(other.expand(input.shape) for other in others)]
    rows = zip(*(column.flatten().tolist() for column in columns), strict=True)
    values = [function(*row) for row in rows]
    return input.copy_(fb.tensor(values, dtype=input.dtype).reshape(input.shape))
