"""An unpickler that makes data and nothing else.

Python's own unpickler calls whatever a file names. This one knows the opcodes of `_opcodes`, and
the only things it calls are those that its ``find_global`` hands out: see `_safe`. Lengths are held
against the bytes that are there, and nothing recurses, so that no file can make it run code, ask
for absurd memory or exhaust the stack.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from pickle import UnpicklingError
from struct import Struct
from typing import Any

from flambeau._display.terminal import printable
from flambeau.serialization._names import CONSTRUCTORS
from flambeau.serialization._opcodes import OPCODES, Stop
from flambeau.serialization._rebuild import check_key

__all__: list[str] = []

_LONGEST_LINE = 10_000  # of a number or a name written as text
# How often the bytes of a pickle may be copied by what it calls. A pickle that refers to one long
# value again and again, in a few bytes each time, would have it copied as often.
_MOST_COPIES = 8
_FREE_COPIES = 1 << 16
_SIZED = frozenset({str, bytes, bytearray, tuple, list, dict, set, frozenset, OrderedDict, Counter})


class Machine:
    """One pickle, read from ``data`` at ``position``; afterwards that is where it ended."""

    def __init__(
        self,
        data: Any,
        position: int,
        find_global: Callable[[str, str], Any],
        persistent_load: Callable[[Any], Any],
        allowed: Callable[[Any], bool],
        encoding: str = "utf-8",
    ) -> None:
        self.data = data
        self.end = len(data)
        self.position = position
        self.find_global = find_global
        self.persistent_load = persistent_load
        self.allowed = allowed  # whether the user lets files call this
        self.encoding = encoding
        self.stack: list[Any] = []
        self.outer: list[list[Any]] = []  # the stacks below each mark
        self.memo: dict[int, Any] = {}
        self._copied = 0  # parts of arguments so far
        self._most_copied = _MOST_COPIES * self.end + _FREE_COPIES

    def load(self) -> Any:
        """Run to the end and return the object; UnpicklingError or RuntimeError if it is bad."""
        opcodes, data, end = OPCODES, self.data, self.end
        try:
            while True:  # a checkpoint of small tensors has some 25 opcodes for each
                position = self.position
                if position >= end:
                    raise UnpicklingError("the pickle ends too early")
                self.position = position + 1
                opcodes[data[position]](self)
        except Stop:
            return self.stack[-1]
        except (UnpicklingError, RuntimeError):
            raise
        except Exception as error:
            kind = type(error).__name__
            raise UnpicklingError(
                f"the pickle is damaged before byte {self.position} "
                f"({kind}: {printable(str(error))})"
            ) from error

    # What the opcodes are made of.

    def take(self, count: int) -> bytes:
        start = self._skip(count)
        return bytes(self.data[start : self.position])

    def _skip(self, count: int) -> int:
        """Go past some bytes and return where they start."""
        start = self.position
        end = start + count
        if end > self.end:
            left = self.end - start
            raise UnpicklingError(f"the pickle ends too early: {count} bytes wanted, {left} left")
        self.position = end
        return start

    def byte(self) -> int:
        position = self.position
        if position >= self.end:
            raise UnpicklingError("the pickle ends too early")
        self.position = position + 1
        value: int = self.data[position]
        return value

    def number(self, kind: Struct) -> int:
        """The next bytes as an integer: `BYTES2` and the others."""
        start = self.position
        end = start + kind.size
        if end > self.end:
            self._skip(kind.size)
        self.position = end
        value: int = kind.unpack_from(self.data, start)[0]
        return value

    def line(self) -> bytes:
        found = bytes(self.data[self.position : self.position + _LONGEST_LINE])
        end = found.find(b"\n")
        if end < 0:
            raise UnpicklingError("a line of text in the pickle does not end")
        self.position += end + 1
        return found[:end]

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def pop(self) -> Any:
        if not self.stack:
            raise UnpicklingError("the pickle takes more values than it has made")
        return self.stack.pop()

    def pop_tuple(self, count: int) -> tuple[Any, ...]:
        stack = self.stack
        if len(stack) < count:
            raise UnpicklingError("the pickle takes more values than it has made")
        items = tuple(stack[-count:])
        del stack[-count:]
        return items

    def top(self) -> Any:
        if not self.stack:
            raise UnpicklingError("the pickle takes more values than it has made")
        return self.stack[-1]

    def pop_mark(self) -> list[Any]:
        if not self.outer:
            raise UnpicklingError("the pickle has no mark where one is needed")
        items = self.stack
        self.stack = self.outer.pop()
        return items

    def remember(self, index: int) -> None:
        stack = self.stack
        self.memo[index] = stack[-1] if stack else self.top()

    def recall(self, index: int) -> None:
        try:
            self.stack.append(self.memo[index])
        except KeyError:
            raise UnpicklingError(
                f"the pickle refers to value {index}, which it has not made"
            ) from None

    def store(self, items: list[Any]) -> None:
        """Put keys and values into the dictionary on top."""
        target = self.top()
        kind = type(target)
        if kind not in (dict, OrderedDict, Counter) and not self.allowed(kind):
            raise UnpicklingError(f"items can be stored in dictionaries, not in {kind.__name__}")
        if len(items) % 2:
            raise UnpicklingError("a key without a value")
        for index in range(0, len(items), 2):
            check_key(items[index])
            target[items[index]] = items[index + 1]

    def append(self, items: list[Any]) -> None:
        target = self.top()
        if type(target) is not list and not self.allowed(type(target)):
            raise UnpicklingError(f"items cannot be appended to {type(target).__name__}")
        if type(target) is list:
            target.extend(items)
        else:
            for item in items:
                target.append(item)

    def note_copy(self, args: tuple[Any, ...]) -> None:
        """Count what may be copied of the arguments of a call."""
        self._copied += _parts(args, self._most_copied)
        if self._copied > self._most_copied:
            raise UnpicklingError(
                f"the pickle lets {self._copied} parts of values be copied, far more than its "
                f"{self.end} bytes hold"
            )

    def call(self, function: Any, args: Any) -> None:
        if type(args) is not tuple:
            raise UnpicklingError("the arguments of a call must be a tuple")
        self.note_copy(args)
        known = CONSTRUCTORS.get(function) if callable(function) else None
        if known is not None:
            try:
                self.push(known(*args))
            except Exception as error:
                text = f"{_name_of(function)}: {printable(str(error))}"
                raise UnpicklingError(text) from error
        elif self.allowed(function):
            self.push(function(*args))
        else:
            raise UnpicklingError(
                f"the pickle calls {_name_of(function)}, which is not a constructor"
            )

    def make(self, kind: Any, args: Any, kwargs: dict[str, Any]) -> None:
        """An object of a class, without a call of its ``__init__``."""
        if any(kind is plain for plain in (OrderedDict, Counter, set)) and args == ():
            self.push(kind())
            return
        if not isinstance(kind, type) or not self.allowed(kind):
            raise UnpicklingError(f"objects of {getattr(kind, '__qualname__', kind)} are not made")
        if type(args) is not tuple:
            raise UnpicklingError("the arguments of a constructor must be a tuple")
        self.push(kind.__new__(kind, *args, **kwargs))


def _name_of(function: Any) -> Any:
    return getattr(function, "__qualname__", type(function).__name__)


def _parts(args: tuple[Any, ...], most: int) -> int:
    """How many bytes, characters and members there are in arguments, or just more than ``most``."""
    count = 0
    for each in args:
        kind = type(each)
        if kind not in _SIZED:
            continue
        count += len(each)
        if kind is tuple:
            for inner in each:
                if type(inner) in _SIZED:
                    count += len(inner)
        if count > most:
            break
    return count
