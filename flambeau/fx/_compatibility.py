"""PyTorch's markers of functions with a stable interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Object = TypeVar("Object")


def compatibility(is_backward_compatible: bool) -> Callable[[Object], Object]:
    """Mark a function or class; programs that extend fx use it as a decorator."""
    return lambda marked: marked
