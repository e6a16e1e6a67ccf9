"""Arguments in the order of PyTorch before 1.5, which old programs still use: the factor first.

``p.add_(-lr, grad)`` is ``p.add_(grad, alpha=-lr)`` today, and ``m.addcmul_(0.1, g, g)`` is
``m.addcmul_(g, g, value=0.1)``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from flambeau import Tensor

__all__ = ["in_new_order"]

_FACTORS = {
    "add": ("alpha", 1),
    "sub": ("alpha", 1),
    "addcmul": ("value", 2),
    "addcdiv": ("value", 2),
}
_NUMBERS = (int, float, complex)
_warned: set[str] = set()


def in_new_order(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call ``func`` with its factor behind the tensors, or give NotImplemented for other calls."""
    name = func.__name__
    factor, count = _FACTORS[name.removesuffix("_")]
    if len(args) != count + 2 or kwargs.keys() - {"out"}:
        return NotImplemented
    first, number, *others = args
    tensors = (first, *others)
    kinds = (Tensor, *_NUMBERS) if factor == "alpha" else Tensor
    if not isinstance(number, _NUMBERS) or not all(isinstance(each, kinds) for each in others):
        return NotImplemented
    if name not in _warned:
        _warned.add(name)
        given = ", ".join(["tensor"] * count)
        warnings.warn(
            f"{name}: the factor stands before the tensors, which PyTorch has deprecated; write "
            f"{name}({given}, {factor}=...)",
            stacklevel=2,
        )
    return func(*tensors, **{factor: number}, **kwargs)
