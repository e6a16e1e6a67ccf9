"""``SymInt``, ``SymFloat`` and ``SymBool``: PyTorch's symbolic values.

Here every size is a number when a program asks for it. The classes exist for ``isinstance`` and
annotations and have no instances; the functions take plain numbers.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterable
from typing import Any, NoReturn

__all__ = [
    "SymBool",
    "SymFloat",
    "SymInt",
    "sym_float",
    "sym_int",
    "sym_ite",
    "sym_max",
    "sym_min",
    "sym_not",
    "sym_sqrt",
    "sym_sum",
]


class _Symbol:
    """A symbolic number; there are no instances."""

    node: Any

    def __new__(cls, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            f"{cls.__name__}: sizes are plain numbers in Flambeau and nothing traces them; "
            "use an int, a float or a bool"
        )


class SymInt(_Symbol):
    """A symbolic integer."""


class SymFloat(_Symbol):
    """A symbolic floating-point number."""


class SymBool(_Symbol):
    """A symbolic boolean."""


def sym_not(a: Any) -> bool:
    """Return ``not a``."""
    return not a


def sym_float(a: Any) -> float:
    """Return ``a`` as a float."""
    return float(a)


def sym_int(a: Any) -> int:
    """Return ``a`` without its fraction."""
    return int(a)


def sym_max(a: Any, b: Any) -> Any:
    """Return the larger one, as a float if either is one."""
    return _common(builtins.max(a, b), a, b)


def sym_min(a: Any, b: Any) -> Any:
    """Return the smaller one, as a float if either is one."""
    return _common(builtins.min(a, b), a, b)


def _common(chosen: Any, *both: Any) -> Any:
    return float(chosen) if any(isinstance(each, float) for each in both) else chosen


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """Return ``t if b else f``."""
    return t if b else f


def sym_sqrt(a: Any) -> float:
    """Return the square root."""
    return math.sqrt(a)


def sym_sum(args: Iterable[Any]) -> Any:
    """Return the sum."""
    return builtins.sum(args)
