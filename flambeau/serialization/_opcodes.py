"""What each opcode of a pickle does to the `Machine` that reads it.

The list is fixed. Those that reach for anything but data are left out: old-style classes (``INST``,
``OBJ``), the registry of extensions (``EXT1`` and the others) and buffers beside the pickle.
"""

from __future__ import annotations

import codecs
import pickle
import struct
from collections import OrderedDict
from collections.abc import Callable
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

from flambeau.serialization._rebuild import check_key

if TYPE_CHECKING:
    from flambeau.serialization._machine import Machine

__all__: list[str] = []


# Integers as they stand in a pickle.
BYTES2, BYTES4, BYTES8 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<Q")
SIGNED4 = struct.Struct("<i")


class Stop(Exception):
    """The pickle has ended."""


_OPCODE_NAMES = {
    value[0]: name
    for name, value in vars(pickle).items()
    if name.isupper() and isinstance(value, bytes) and len(value) == 1
}


def _unsupported(m: Machine) -> None:
    code = m.data[m.position - 1]
    name = _OPCODE_NAMES.get(code, "unknown")
    raise UnpicklingError(f"Unsupported operand {code} (opcode {name})")


OPCODES: list[Callable[[Machine], None]] = [_unsupported] * 256


def _opcode(code: bytes) -> Callable[[Callable[[Machine], None]], Callable[[Machine], None]]:
    def register(run: Callable[[Machine], None]) -> Callable[[Machine], None]:
        OPCODES[code[0]] = run
        return run

    return register


# Numbers and other atoms.


@_opcode(pickle.PROTO)
def _proto(m: Machine) -> None:
    version = m.byte()
    if version > pickle.HIGHEST_PROTOCOL:
        raise UnpicklingError(f"pickle protocol {version} is not known")


@_opcode(pickle.FRAME)
def _frame(m: Machine) -> None:
    length = m.number(BYTES8)
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
    m.stack.append(None)


@_opcode(pickle.NEWTRUE)
def _true(m: Machine) -> None:
    m.stack.append(True)


@_opcode(pickle.NEWFALSE)
def _false(m: Machine) -> None:
    m.stack.append(False)


@_opcode(pickle.BININT)
def _binint(m: Machine) -> None:
    m.stack.append(m.number(SIGNED4))


@_opcode(pickle.BININT1)
def _binint1(m: Machine) -> None:
    m.stack.append(m.byte())


@_opcode(pickle.BININT2)
def _binint2(m: Machine) -> None:
    m.stack.append(m.number(BYTES2))


@_opcode(pickle.LONG1)
def _long1(m: Machine) -> None:
    m.stack.append(int.from_bytes(m.take(m.byte()), "little", signed=True))


@_opcode(pickle.LONG4)
def _long4(m: Machine) -> None:
    m.stack.append(int.from_bytes(m.take(m.number(BYTES4)), "little", signed=True))


@_opcode(pickle.INT)
def _int(m: Machine) -> None:
    text = m.line()
    m.stack.append({b"00": False, b"01": True}[text] if text in (b"00", b"01") else int(text))


@_opcode(pickle.LONG)
def _long(m: Machine) -> None:
    m.stack.append(int(m.line().removesuffix(b"L")))


@_opcode(pickle.FLOAT)
def _float(m: Machine) -> None:
    m.stack.append(float(m.line()))


@_opcode(pickle.BINFLOAT)
def _binfloat(m: Machine) -> None:
    m.stack.append(struct.unpack(">d", m.take(8))[0])


# Text and bytes.


def _text(m: Machine, data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _old_string(m: Machine, data: bytes) -> Any:
    """A string of Python 2, which may be either."""
    return data if m.encoding == "bytes" else data.decode(m.encoding)


@_opcode(pickle.SHORT_BINUNICODE)
def _short_binunicode(m: Machine) -> None:
    m.stack.append(_text(m, m.take(m.byte())))


@_opcode(pickle.BINUNICODE)
def _binunicode(m: Machine) -> None:
    m.stack.append(_text(m, m.take(m.number(BYTES4))))


@_opcode(pickle.BINUNICODE8)
def _binunicode8(m: Machine) -> None:
    m.stack.append(_text(m, m.take(m.number(BYTES8))))


@_opcode(pickle.UNICODE)
def _unicode(m: Machine) -> None:
    m.stack.append(m.line().decode("raw-unicode-escape"))


@_opcode(pickle.SHORT_BINBYTES)
def _short_binbytes(m: Machine) -> None:
    m.stack.append(m.take(m.byte()))


@_opcode(pickle.BINBYTES)
def _binbytes(m: Machine) -> None:
    m.stack.append(m.take(m.number(BYTES4)))


@_opcode(pickle.BINBYTES8)
def _binbytes8(m: Machine) -> None:
    m.stack.append(m.take(m.number(BYTES8)))


@_opcode(pickle.BYTEARRAY8)
def _bytearray8(m: Machine) -> None:
    m.stack.append(bytearray(m.take(m.number(BYTES8))))


@_opcode(pickle.SHORT_BINSTRING)
def _short_binstring(m: Machine) -> None:
    m.stack.append(_old_string(m, m.take(m.byte())))


@_opcode(pickle.BINSTRING)
def _binstring(m: Machine) -> None:
    m.stack.append(_old_string(m, m.take(m.number(BYTES4))))


@_opcode(pickle.STRING)
def _string(m: Machine) -> None:
    text = m.line()
    if len(text) < 2 or text[:1] != text[-1:] or text[:1] not in (b"'", b'"'):
        raise UnpicklingError("a string of the pickle lacks its quotes")
    m.stack.append(_old_string(m, codecs.escape_decode(text[1:-1])[0]))


# Containers.


@_opcode(pickle.EMPTY_TUPLE)
def _empty_tuple(m: Machine) -> None:
    m.stack.append(())


@_opcode(pickle.EMPTY_LIST)
def _empty_list(m: Machine) -> None:
    m.stack.append([])


@_opcode(pickle.EMPTY_DICT)
def _empty_dict(m: Machine) -> None:
    m.stack.append({})


@_opcode(pickle.EMPTY_SET)
def _empty_set(m: Machine) -> None:
    m.stack.append(set())


@_opcode(pickle.MARK)
def _mark(m: Machine) -> None:
    m.outer.append(m.stack)
    m.stack = []


@_opcode(pickle.TUPLE)
def _tuple(m: Machine) -> None:
    items = tuple(m.pop_mark())
    m.stack.append(items)


@_opcode(pickle.TUPLE1)
def _tuple1(m: Machine) -> None:
    m.stack.append(m.pop_tuple(1))


@_opcode(pickle.TUPLE2)
def _tuple2(m: Machine) -> None:
    m.stack.append(m.pop_tuple(2))


@_opcode(pickle.TUPLE3)
def _tuple3(m: Machine) -> None:
    m.stack.append(m.pop_tuple(3))


@_opcode(pickle.LIST)
def _list(m: Machine) -> None:
    items = m.pop_mark()
    m.stack.append(items)


@_opcode(pickle.DICT)
def _dict(m: Machine) -> None:
    items = m.pop_mark()
    m.stack.append({})
    m.store(items)


@_opcode(pickle.FROZENSET)
def _frozenset(m: Machine) -> None:
    items = m.pop_mark()
    for item in items:
        check_key(item)
    m.stack.append(frozenset(items))


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
    m.stack.append(m.top())


@_opcode(pickle.BINPUT)
def _binput(m: Machine) -> None:
    m.remember(m.byte())


@_opcode(pickle.LONG_BINPUT)
def _long_binput(m: Machine) -> None:
    m.remember(m.number(BYTES4))


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
    m.recall(m.number(BYTES4))


@_opcode(pickle.GET)
def _get(m: Machine) -> None:
    m.recall(int(m.line()))


# Names and objects.


@_opcode(pickle.GLOBAL)
def _global(m: Machine) -> None:
    module, name = m.line().decode(), m.line().decode()
    m.stack.append(m.find_global(module, name))


@_opcode(pickle.STACK_GLOBAL)
def _stack_global(m: Machine) -> None:
    name, module = m.pop(), m.pop()
    if type(name) is not str or type(module) is not str:
        raise UnpicklingError("the name of a global must be text")
    m.stack.append(m.find_global(module, name))


@_opcode(pickle.BINPERSID)
def _binpersid(m: Machine) -> None:
    m.stack.append(m.persistent_load(m.pop()))


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
    m.note_copy((state,))
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
