"""Sizes of tensors that remember their origin while a program is recorded.

The binding returns them for tensors that depend on the inputs of a tape. Arithmetic with them is
recorded. Python's decisions by them, and non-integers computed from them,
are not: each call of the recording checks that they would come out the same. They are no integers
of Python's, which ``range`` and lists would read unasked; ``isinstance`` takes them for such.
"""

from __future__ import annotations

import contextlib
import operator
import threading
from collections.abc import Callable, Iterator
from typing import Any

from flambeau import _C

__all__: list[str] = []


class TracedInt:
    """A size that may differ in the next call: one with a number on a tape."""

    __slots__ = ("number", "tape", "value")

    def __init__(self, value: int, tape: Any, number: int) -> None:
        self.value = value
        self.tape = tape  # the native one
        self.number = number

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return int

    def __repr__(self) -> str:
        return repr(self.value)

    def __format__(self, form: str) -> str:
        return format(self.value, form)

    def __pos__(self) -> TracedInt:
        return self

    conjugate = __pos__
    real = numerator = property(__pos__)
    imag, denominator = 0, 1

    def __index__(self) -> int:
        return _left(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        return np.array(_left(self), dtype=dtype, copy=copy)

    def __reduce__(self) -> Any:
        return int, (_left(self),)


_C._set_traced_int(TracedInt)

_GREATEST = 2**63  # what is beyond is no size


class _Comparisons(threading.local):
    numbers: set[int] | None = None
    are_checked = True  # by recordings that run


_comparisons = _Comparisons()


@contextlib.contextmanager
def noted_comparisons() -> Iterator[set[int]]:
    """A block that collects the numbers that sizes are compared to: the program's decisions."""
    outer, _comparisons.numbers = _comparisons.numbers, set()
    try:
        yield _comparisons.numbers
    finally:
        _comparisons.numbers = outer


@contextlib.contextmanager
def unchecked_decisions() -> Iterator[None]:
    """A block in which recordings continue even if a decision would come out differently."""
    outer, _comparisons.are_checked = _comparisons.are_checked, False
    try:
        yield
    finally:
        _comparisons.are_checked = outer


def plain(value: Any) -> Any:
    """A size as its current number, for the recorder itself; not recorded."""
    return value.value if type(value) is TracedInt else value


def _left(size: TracedInt) -> int:
    """A size as a number that the recording knows nothing of; the tape says what that means."""
    size.tape.leave(size.number)
    return size.value


def check_decision(name: str, outcome: Any, *operands: Any) -> None:
    """A step of recordings: raise if a decision about sizes differs from the recorded one."""
    if _comparisons.are_checked:
        _C._check_decision((name, outcome, *operands))


def are_checked() -> bool:
    """Whether running recordings check decisions about sizes."""
    return _comparisons.are_checked


def _checked(name: str, outcome: Any, *operands: Any) -> None:
    """Record a decision about some sizes on the tapes that they belong to."""
    # A number that no size can be is as good as its neighbours.
    known = tuple(float(each) if _is_huge(each) else each for each in operands)
    for tape in _tapes(operands):
        tape.add_check(name, outcome, known)


def _is_huge(value: Any) -> bool:
    return type(value) is int and not -_GREATEST <= value < _GREATEST


def _tapes(operands: tuple[Any, ...]) -> list[Any]:
    found: list[Any] = []
    for each in operands:
        if type(each) is TracedInt and not any(each.tape is tape for tape in found):
            found.append(each.tape)
    return found


def _recorded(name: str, is_reflected: bool) -> Callable[..., Any]:
    function = getattr(operator, name)

    def method(self: TracedInt, *others: Any) -> Any:
        if any(not isinstance(other, (int, float)) for other in others):
            return NotImplemented
        operands = (*others, self) if is_reflected else (self, *others)
        result = function(*map(plain, operands))
        is_size = type(result) is int and -_GREATEST <= result < _GREATEST
        if not is_size or any(isinstance(other, (bool, float)) for other in others):
            for each in operands:  # not recorded: it holds for these sizes
                if type(each) is TracedInt:
                    _checked("is", each.value, each)
            return result
        number = self.tape.add_arithmetic(name, operands, result)
        return TracedInt(result, self.tape, number)

    return method


_ARITHMETIC = ("add", "sub", "mul", "floordiv", "mod", "pow", "truediv")
for _name in _ARITHMETIC:
    setattr(TracedInt, f"__{_name}__", _recorded(_name, False))
    setattr(TracedInt, f"__r{_name}__", _recorded(_name, True))
setattr(TracedInt, "__neg__", _recorded("neg", False))  # noqa: B010


def _decided(name: str) -> Callable[..., Any]:
    function = getattr(operator, name)

    def method(self: TracedInt, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        if _comparisons.numbers is not None and isinstance(other, int):
            _comparisons.numbers.add(plain(other))
        outcome = function(self.value, plain(other))
        _checked(name, outcome, self, other)
        return outcome

    return method


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(TracedInt, f"__{_name}__", _decided(_name))


def _as_number(name: str) -> Callable[..., Any]:
    """A conversion that leaves the recording: its result holds for this size."""
    function = getattr(int, name)

    def method(self: TracedInt, *others: Any, **options: Any) -> Any:
        _checked("is", self.value, self)
        return function(self.value, *map(plain, others), **options)

    return method


for _name in (
    *("__abs__", "__float__", "__hash__", "__int__", "__invert__", "__round__"),
    *("__trunc__", "__floor__", "__ceil__"),
    *("as_integer_ratio", "bit_count", "bit_length", "to_bytes"),
    *(f"__{side}{name}__" for side in ("", "r") for name in ("and", "or", "xor", "divmod")),
    *(f"__{side}{name}__" for side in ("", "r") for name in ("lshift", "rshift")),
):
    setattr(TracedInt, _name, _as_number(_name))


def _is_true(self: TracedInt) -> bool:
    outcome = bool(self.value)
    _checked("is true", outcome, self)
    return outcome


setattr(TracedInt, "__bool__", _is_true)  # noqa: B010
