"""Sizes of tensors that remember, while a program is recorded, where they came from."""

from __future__ import annotations

import contextlib
import operator
import threading
from collections.abc import Callable, Iterator
from typing import Any

__all__: list[str] = []

# Adds a call to a recording, and returns what stands for its result there.
Write = Callable[[Callable[..., Any], tuple[Any, ...]], Any]


class TracedInt(int):
    """A size that may be another one in the next call; arithmetic with it is recorded.

    ``origin`` is what stands for it in the recording that ``write`` adds to.
    """

    origin: Any
    write: Write

    @classmethod
    def of(cls, value: int, origin: Any, write: Write) -> TracedInt:
        made = cls(value)
        made.origin = origin
        made.write = write
        return made


class _Comparisons(threading.local):
    numbers: set[int] | None = None


_comparisons = _Comparisons()


@contextlib.contextmanager
def noted_comparisons() -> Iterator[set[int]]:
    """A block with the numbers that sizes are compared to in it: what a program decides by."""
    outer, _comparisons.numbers = _comparisons.numbers, set()
    try:
        yield _comparisons.numbers
    finally:
        _comparisons.numbers = outer


def origin_or_value(value: Any) -> Any:
    """What stands for a size in its recording; other values stand for themselves."""
    return value.origin if isinstance(value, TracedInt) else value


def _recorded(name: str, is_reflected: bool) -> Callable[..., Any]:
    function = getattr(operator, name)

    def method(self: TracedInt, *others: Any) -> Any:
        if any(isinstance(other, bool) or not isinstance(other, int) for other in others):
            return NotImplemented
        operands = (*others, self) if is_reflected else (self, *others)
        result = function(*map(int, operands))
        return TracedInt.of(
            result, self.write(function, tuple(map(origin_or_value, operands))), self.write
        )

    return method


for _name in ("add", "sub", "mul", "floordiv", "mod", "neg"):
    setattr(TracedInt, f"__{_name}__", _recorded(_name, False))
    if _name != "neg":
        setattr(TracedInt, f"__r{_name}__", _recorded(_name, True))


def _noted(name: str) -> Callable[..., Any]:
    function = getattr(int, name)

    def method(self: TracedInt, other: Any) -> Any:
        if _comparisons.numbers is not None and isinstance(other, int):
            _comparisons.numbers.add(int(other))
        return function(self, other)

    return method


for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(TracedInt, _name, _noted(_name))
