"""Arguments in the order of PyTorch before 1.5, which old programs still use: the factor first.

``p.add_(-lr, grad)`` is ``p.add_(grad, alpha=-lr)`` today, ``m.addcmul_(0.1, g, g)`` is
``m.addcmul_(g, g, value=0.1)``, and ``torch.addmm(2, m, 3, a, b)`` is
``torch.addmm(m, a, b, beta=2, alpha=3)``.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from flambeau import _C, Tensor

__all__ = ["in_new_order"]

_NUMBERS = (int, float, complex)
_warned: set[str] = set()


def in_new_order(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call ``func`` with its factors after the tensors; return NotImplemented for other calls."""
    name = func.__name__
    factors, count = _factors(name.removesuffix("_"))
    tensors, numbers = _separated(args, factors)
    if len(tensors) != count + 1 or not numbers or kwargs.keys() - {"out"}:
        return NotImplemented
    if name not in _warned:
        _warned.add(name)
        given = ", ".join([*["tensor"] * count, *(f"{each}=..." for each in factors)])
        warnings.warn(
            f"{name}: the factor stands before the tensors, which PyTorch has deprecated; write "
            f"{name}({given})",
            stacklevel=2,
        )
    return func(*tensors, **dict(zip(factors, numbers, strict=False)), **kwargs)


@functools.cache
def _factors(name: str) -> tuple[tuple[str, ...], int]:
    """The names of the factors, and how many tensors follow the first."""
    entry = next(each for each in _C.op_info() if each["name"] == name and each["old_order"])
    tensors = [each for each in entry["args"] if not each["keyword_only"]]
    return tuple(entry["old_order"]), len(tensors) - 1


def _separated(args: tuple[Any, ...], factors: tuple[str, ...]) -> tuple[list[Any], list[Any]]:
    """The tensors and the factors of a call; no factors unless they are in the old positions."""
    places = [place for place, each in enumerate(args) if isinstance(each, _NUMBERS)]
    if factors == ("alpha",):  # what is added may be a number itself
        places = [place for place in places if place == 1]
    elif factors == ("beta", "alpha"):
        # The first factor is before or after the first tensor, and the second after both.
        places = places if places in ([0], [1], [0, 2], [1, 2]) else []
    elif places != [1]:
        places = []
    tensors = [each for place, each in enumerate(args) if place not in places]
    kinds = (Tensor, *_NUMBERS) if factors == ("alpha",) else Tensor
    if not isinstance(tensors[0] if tensors else None, Tensor):
        return [], []
    if not all(isinstance(each, kinds) for each in tensors):
        return [], []
    return tensors, [args[place] for place in places]
