"""A reader of pickles that makes data and nothing else.

Python's own unpickler calls whatever a file names. This one knows a fixed list of opcodes, and the
only things it calls are those that its ``find_global`` hands out: see `_safe`. Lengths are held
against the bytes that are there, and nothing recurses, so that no file can make it run code, ask
for absurd memory or exhaust the stack.
"""

from __future__ import annotations

import codecs
import pickle
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

from flambeau.serialization._names import CONSTRUCTORS
from flambeau.serialization._rebuild import check_key

__all__: list[str] = []

_LONGEST_LINE = 10_000  # of a number or a name written as text
_OPCODE_NAMES = {
    value[0]: name
    for name, value in vars(pickle).items()
    if name.isupper() and isinstance(value, bytes) and len(value) == 1
}


def _unsupported(m: Machine) -> None:
    code = m.data[m.position - 1]
    name = _OPCODE_NAMES.get(code, "unknown")
    raise UnpicklingError(f"Unsupported operand {code} (opcode {name})")


_OPCODES: list[Callable[[Machine], None]] = [_unsupported] * 256


def _opcode(code: bytes) -> Callable[[Callable[[Machine], None]], Callable[[Machine], None]]:
    def register(run: Callable[[Machine], None]) -> Callable[[Machine], None]:
        _OPCODES[code[0]] = run
        return run

    return register


class Stop(Exception):
    """The pickle has ended."""


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
        self.position = position
        self.find_global = find_global
        self.persistent_load = persistent_load
        self.allowed = allowed  # whether the user lets files call this
        self.encoding = encoding
        self.stack: list[Any] = []
        self.outer: list[list[Any]] = []  # the stacks below each mark
        self.memo: dict[int, Any] = {}

    def load(self) -> Any:
        """Run to the end and return the object; UnpicklingError or RuntimeError if it is bad."""
        try:
            while True:
                run = _OPCODES[self.byte()]
                run(self)
        except Stop:
            return self.stack[-1]
        except (UnpicklingError, RuntimeError):
            raise
        except Exception as error:
            kind = type(error).__name__
            raise UnpicklingError(
                f"the pickle is damaged before byte {self.position} ({kind}: {error})"
            ) from error

    # What the opcodes are made of.

    def take(self, count: int) -> bytes:
        start = self.position
        end = start + count
        if end > len(self.data):
            left = len(self.data) - start
            raise UnpicklingError(f"the pickle ends too early: {count} bytes wanted, {left} left")
        self.position = end
        return bytes(self.data[start:end])

    def byte(self) -> int:
        if self.position >= len(self.data):
            raise UnpicklingError("the pickle ends too early")
        value: int = self.data[self.position]
        self.position += 1
        return value

    def number(self, width: int) -> int:
        return int.from_bytes(self.take(width), "little")

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
        self.memo[index] = self.top()

    def recall(self, index: int) -> None:
        if index not in self.memo:
            raise UnpicklingError(f"the pickle refers to value {index}, which it has not made")
        self.push(self.memo[index])

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

    def call(self, function: Any, args: Any) -> None:
        if type(args) is not tuple:
            raise UnpicklingError("the arguments of a call must be a tuple")
        known = CONSTRUCTORS.get(function) if callable(function) else None
        name = getattr(function, "__qualname__", type(function).__name__)
        if known is not None:
            try:
                self.push(known(*args))
            except Exception as error:
                raise UnpicklingError(f"{name}: {error}") from error
        elif self.allowed(function):
            self.push(function(*args))
        else:
            raise UnpicklingError(f"the pickle calls {name}, which is not a constructor")

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


# Numbers and other atoms.


@_opcode(pickle.PROTO)
def _proto(m: Machine) -> None:
    version = m.byte()
    if version > pickle.HIGHEST_PROTOCOL:
        raise UnpicklingError(f"pickle protocol {version} is not known")


@_opcode(pickle.FRAME)
def _frame(m: Machine) -> None:
    length = m.number(8)
    if length > len(m.data) - m.position:
        raise UnpicklingError(f"a frame of {length} bytes does not fit into the pickle")


@_opcode(pickle.STOP)
def _stop(m: Machine) -> None:
    m.top()
    if m.outer:
        raise UnpicklingError("the pickle ends inside a group of values")
    raise Stop


@_opcode(pickle.NONE)
def _none(m: Machine) -> None:
    m.push(None)


@_opcode(pickle.NEWTRUE)
def _true(m: Machine) -> None:
    m.push(True)


@_opcode(pickle.NEWFALSE)
def _false(m: Machine) -> None:
    m.push(False)


@_opcode(pickle.BININT)
def _binint(m: Machine) -> None:
    m.push(int.from_bytes(m.take(4), "little", signed=True))


@_opcode(pickle.BININT1)
def _binint1(m: Machine) -> None:
    m.push(m.byte())


@_opcode(pickle.BININT2)
def _binint2(m: Machine) -> None:
    m.push(m.number(2))


@_opcode(pickle.LONG1)
def _long1(m: Machine) -> None:
    m.push(int.from_bytes(m.take(m.byte()), "little", signed=True))


@_opcode(pickle.LONG4)
def _long4(m: Machine) -> None:
    m.push(int.from_bytes(m.take(m.number(4)), "little", signed=True))


@_opcode(pickle.INT)
def _int(m: Machine) -> None:
    text = m.line()
    m.push({b"00": False, b"01": True}[text] if text in (b"00", b"01") else int(text))


@_opcode(pickle.LONG)
def _long(m: Machine) -> None:
    m.push(int(m.line().removesuffix(b"L")))


@_opcode(pickle.FLOAT)
def _float(m: Machine) -> None:
    m.push(float(m.line()))


@_opcode(pickle.BINFLOAT)
def _binfloat(m: Machine) -> None:
    m.push(struct.unpack(">d", m.take(8))[0])


# Text and bytes.


def _text(m: Machine, data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _old_string(m: Machine, data: bytes) -> Any:
    """A string of Python 2, which may be either."""
    return data if m.encoding == "bytes" else data.decode(m.encoding)


@_opcode(pickle.SHORT_BINUNICODE)
def _short_binunicode(m: Machine) -> None:
    m.push(_text(m, m.take(m.byte())))


@_opcode(pickle.BINUNICODE)
def _binunicode(m: Machine) -> None:
    m.push(_text(m, m.take(m.number(4))))


@_opcode(pickle.BINUNICODE8)
def _binunicode8(m: Machine) -> None:
    m.push(_text(m, m.take(m.number(8))))


@_opcode(pickle.UNICODE)
def _unicode(m: Machine) -> None:
    m.push(m.line().decode("raw-unicode-escape"))


@_opcode(pickle.SHORT_BINBYTES)
def _short_binbytes(m: Machine) -> None:
    m.push(m.take(m.byte()))


@_opcode(pickle.BINBYTES)
def _binbytes(m: Machine) -> None:
    m.push(m.take(m.number(4)))


@_opcode(pickle.BINBYTES8)
def _binbytes8(m: Machine) -> None:
    m.push(m.take(m.number(8)))


@_opcode(pickle.BYTEARRAY8)
def _bytearray8(m: Machine) -> None:
    m.push(bytearray(m.take(m.number(8))))


@_opcode(pickle.SHORT_BINSTRING)
def _short_binstring(m: Machine) -> None:
    m.push(_old_string(m, m.take(m.byte())))


@_opcode(pickle.BINSTRING)
def _binstring(m: Machine) -> None:
    m.push(_old_string(m, m.take(m.number(4))))


@_opcode(pickle.STRING)
def _string(m: Machine) -> None:
    text = m.line()
    if len(text) < 2 or text[:1] != text[-1:] or text[:1] not in (b"'", b'"'):
        raise UnpicklingError("a string of the pickle lacks its quotes")
    m.push(_old_string(m, codecs.escape_decode(text[1:-1])[0]))


# Containers.


@_opcode(pickle.EMPTY_TUPLE)
def _empty_tuple(m: Machine) -> None:
    m.push(())


@_opcode(pickle.EMPTY_LIST)
def _empty_list(m: Machine) -> None:
    m.push([])


@_opcode(pickle.EMPTY_DICT)
def _empty_dict(m: Machine) -> None:
    m.push({})


@_opcode(pickle.EMPTY_SET)
def _empty_set(m: Machine) -> None:
    m.push(set())


@_opcode(pickle.MARK)
def _mark(m: Machine) -> None:
    m.outer.append(m.stack)
    m.stack = []


@_opcode(pickle.TUPLE)
def _tuple(m: Machine) -> None:
    items = tuple(m.pop_mark())
    m.push(items)


@_opcode(pickle.TUPLE1)
def _tuple1(m: Machine) -> None:
    m.push((m.pop(),))


@_opcode(pickle.TUPLE2)
def _tuple2(m: Machine) -> None:
    second, first = m.pop(), m.pop()
    m.push((first, second))


@_opcode(pickle.TUPLE3)
def _tuple3(m: Machine) -> None:
    third, second, first = m.pop(), m.pop(), m.pop()
    m.push((first, second, third))


@_opcode(pickle.LIST)
def _list(m: Machine) -> None:
    items = m.pop_mark()
    m.push(items)


@_opcode(pickle.DICT)
def _dict(m: Machine) -> None:
    items = m.pop_mark()
    m.push({})
    m.store(items)


@_opcode(pickle.FROZENSET)
def _frozenset(m: Machine) -> None:
    items = m.pop_mark()
    for item in items:
        check_key(item)
    m.push(frozenset(items))


@_opcode(pickle.APPEND)
def _append(m: Machine) -> None:
    item = m.pop()
    m.append([item])


@_opcode(pickle.APPENDS)
def _appends(m: Machine) -> None:
    m.append(m.pop_mark())


@_opcode(pickle.SETITEM)
def _setitem(m: Machine) -> None:
    value, key = m.pop(), m.pop()
    m.store([key, value])


@_opcode(pickle.SETITEMS)
def _setitems(m: Machine) -> None:
    m.store(m.pop_mark())


@_opcode(pickle.ADDITEMS)
def _additems(m: Machine) -> None:
    items = m.pop_mark()
    target = m.top()
    if type(target) is not set:
        raise UnpicklingError(f"members cannot be added to {type(target).__name__}")
    for item in items:
        check_key(item)
    target.update(items)


# The stack and the memo.


@_opcode(pickle.POP)
def _pop(m: Machine) -> None:
    if m.stack:
        m.stack.pop()
    else:
        m.pop_mark()


@_opcode(pickle.POP_MARK)
def _pop_mark(m: Machine) -> None:
    m.pop_mark()


@_opcode(pickle.DUP)
def _dup(m: Machine) -> None:
    m.push(m.top())


@_opcode(pickle.BINPUT)
def _binput(m: Machine) -> None:
    m.remember(m.byte())


@_opcode(pickle.LONG_BINPUT)
def _long_binput(m: Machine) -> None:
    m.remember(m.number(4))


@_opcode(pickle.PUT)
def _put(m: Machine) -> None:
    m.remember(int(m.line()))


@_opcode(pickle.MEMOIZE)
def _memoize(m: Machine) -> None:
    m.remember(len(m.memo))


@_opcode(pickle.BINGET)
def _binget(m: Machine) -> None:
    m.recall(m.byte())


@_opcode(pickle.LONG_BINGET)
def _long_binget(m: Machine) -> None:
    m.recall(m.number(4))


@_opcode(pickle.GET)
def _get(m: Machine) -> None:
    m.recall(int(m.line()))


# Names and objects.


@_opcode(pickle.GLOBAL)
def _global(m: Machine) -> None:
    module, name = m.line().decode(), m.line().decode()
    m.push(m.find_global(module, name))


@_opcode(pickle.STACK_GLOBAL)
def _stack_global(m: Machine) -> None:
    name, module = m.pop(), m.pop()
    if type(name) is not str or type(module) is not str:
        raise UnpicklingError("the name of a global must be text")
    m.push(m.find_global(module, name))


@_opcode(pickle.BINPERSID)
def _binpersid(m: Machine) -> None:
    m.push(m.persistent_load(m.pop()))


@_opcode(pickle.REDUCE)
def _reduce(m: Machine) -> None:
    args, function = m.pop(), m.pop()
    m.call(function, args)


@_opcode(pickle.NEWOBJ)
def _newobj(m: Machine) -> None:
    args, kind = m.pop(), m.pop()
    m.make(kind, args, {})


@_opcode(pickle.NEWOBJ_EX)
def _newobj_ex(m: Machine) -> None:
    kwargs, args, kind = m.pop(), m.pop(), m.pop()
    if type(kwargs) is not dict or not all(type(name) is str for name in kwargs):
        raise UnpicklingError("the keyword arguments of a constructor must be a dictionary")
    m.make(kind, args, kwargs)


@_opcode(pickle.BUILD)
def _build(m: Machine) -> None:
    state = m.pop()
    target = m.top()
    if type(target) is OrderedDict and type(state) is dict:
        _set_state(target, state)
        return
    if not m.allowed(type(target)):
        raise UnpicklingError(f"the state of {type(target).__name__} cannot be set")
    own = getattr(target, "__setstate__", None)
    if own is not None:
        own(state)
        return
    attributes, slots = state if type(state) is tuple and len(state) == 2 else (state, None)
    _set_state(target, attributes)
    for name, value in (slots or {}).items():
        setattr(target, name, value)


def _set_state(target: Any, attributes: Any) -> None:
    if attributes is None:
        return
    if type(attributes) is not dict or not all(type(name) is str for name in attributes):
        raise UnpicklingError("the state of an object must be a dictionary with names as keys")
    target.__dict__.update(attributes)
