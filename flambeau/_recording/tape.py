"""Tapes: the operator calls of a program, as a flat list.

A tape gives every tensor a number, by its identity. A tensor that is changed in place keeps its
number; a view has one of its own, and names the first tensor that was met on the same memory. A
tape that traces sizes numbers them too, and records where they come from, what is computed
from them and what Python decides by them.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

from flambeau import _C, Tensor, dtype

__all__ = ["MADE_OF_DATA", "OUTSIDE", "Call", "Ref", "SizeRef", "Tape", "Value"]

# Origins of tensors that are not results of calls.
OUTSIDE = -1
MADE_OF_DATA = -2  # while the tape ran


class Ref(NamedTuple):
    """A tensor, by its number."""

    number: int

    def __repr__(self) -> str:
        return f"%{self.number}"


class SizeRef(NamedTuple):
    """A size, by its number."""

    number: int

    def __repr__(self) -> str:
        return f"%s{self.number}"


class Value(NamedTuple):
    """A tensor that a tape has met."""

    tensor: Tensor
    maker: int  # the call whose result it is; OUTSIDE or MADE_OF_DATA
    shares: int  # the number of the first tensor on the same memory: its own, if it is that
    original: Tensor  # what it was when it was made of data; else the tensor itself


class Call(NamedTuple):
    """One call, or a note. Arguments are references, lists of them, and values as they are."""

    op: str  # the name in the table, with the overload: "sum.dim"; empty for a note
    aten: str  # the name in profiles: "aten::sum"
    args: tuple[Any, ...]
    results: tuple[Any, ...]
    flags: int
    location: str  # "file.py:12", the line of the program that led to it
    note: str  # "size", "rank", "check", "read", or the arithmetic that made a size
    no_grad: bool  # what the thread was in
    autocast: dtype | None

    @property
    def writes(self) -> bool:
        """Whether it changes arguments in place, which are then its results."""
        return bool(self.flags & (_C._OP_WRITES | _C._OP_STORES | _C._OP_WRITES_MANY))

    @property
    def views(self) -> bool:
        """Whether its results are views of its first argument."""
        return bool(self.flags & _C._OP_VIEWS)

    @property
    def random(self) -> bool:
        """Whether it draws from a generator."""
        return bool(self.flags & _C._OP_RANDOM)

    def inputs(self) -> list[int]:
        """The numbers of all tensors among the arguments."""
        return _numbers(self.args)

    def outputs(self) -> list[int]:
        """The numbers of all tensors among the results."""
        return _numbers(self.results)

    def __repr__(self) -> str:
        results = ", ".join(map(repr, self.results))
        return f"{results} = {self.op or self.note}({', '.join(map(repr, self.args))})"


class Tape(_C._SelfScope):
    """Records the calls of this thread in its block.

    Calls that an operator makes itself are not recorded. With ``in_parts``, compositions are
    recorded as the operators that they consist of. With ``tracing``, sizes of tensors that depend
    on inputs are noted (1), and numbers of dimensions, too (2).
    """

    def __init__(self, in_parts: bool = False, tracing: int = 0) -> None:
        if tracing:  # the binding hands out numbers of a class that is there once it is imported
            importlib.import_module("flambeau._recording.sizes")
        self._value = self._native = _C._Tape(in_parts, tracing)

    _begin = staticmethod(_C._start_tape)
    _end = staticmethod(_C._stop_tape)

    def __len__(self) -> int:
        return len(self._native)

    def number(self, tensor: Tensor) -> int:
        """The number of a tensor; the tape has met it from now on."""
        return int(self._native.number(tensor))

    def knows(self, tensor: Tensor) -> bool:
        """Whether the tape has met a tensor."""
        return int(self._native.known_number(tensor)) >= 0

    def add_input(self, tensor: Tensor) -> int:
        """The number of a tensor whose sizes may differ the next time."""
        self._native.mark_sized(tensor)
        return self.number(tensor)

    def calls(self) -> list[Call]:
        """What was recorded until now."""
        return [Call(*each) for each in self._native.calls()]

    def values(self) -> list[Value]:
        """The tensors that were met until now, by their numbers."""
        return [Value(*each) for each in self._native.values()]

    def __str__(self) -> str:
        return "\n".join(map(repr, self.calls()))


def _numbers(items: Any) -> list[int]:
    found = []
    for item in items:
        if isinstance(item, Ref):
            found.append(item.number)
        elif isinstance(item, list):
            found += [each.number for each in item if isinstance(each, Ref)]
    return found
