"""The wire format of protocol buffers: messages are declared by their field numbers.

A message is its fields one after the other, each a key (the field's number and wire type) and a
value. Readers skip unknown fields, so a declaration lists only what is written.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

__all__ = ["BOOL", "BYTES", "DOUBLE", "FLOAT", "INT", "STRING", "Field", "Message"]

_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5  # how the end of a value is found

_double = struct.Struct("<d").pack
_float = struct.Struct("<f").pack


def _varint(number: int) -> bytes:
    """Seven bits a byte, lowest first; negative numbers as 64 bits."""
    rest = int(number) & 0xFFFF_FFFF_FFFF_FFFF
    parts = bytearray()
    while rest > 127:
        parts.append(rest & 127 | 128)
        rest >>= 7
    parts.append(rest)
    return bytes(parts)


def _rounded_float(value: float) -> bytes:
    try:
        return _float(value)
    except OverflowError:  # too large for four bytes
        return _float(math.copysign(math.inf, value))


def _measured(content: bytes) -> bytes:
    return _varint(len(content)) + content


class _Kind(NamedTuple):
    wire: int
    encode: Callable[[Any], bytes]
    default: Any
    packed: Callable[[Any], bytes] | None = None  # many values in one field


def _varints(values: Any) -> bytes:
    return b"".join(map(_varint, values))


def _array(dtype: str) -> Callable[[Any], bytes]:
    return lambda values: np.asarray(values, dtype).tobytes()


INT = _Kind(_VARINT, _varint, 0, _varints)  # of any width, and the numbers of enumerations
BOOL = _Kind(_VARINT, _varint, False, _varints)
FLOAT = _Kind(_FOUR_BYTES, _rounded_float, 0.0, _array("<f4"))
DOUBLE = _Kind(_EIGHT_BYTES, _double, 0.0, _array("<f8"))
BYTES = _Kind(_LENGTH, _measured, b"")
STRING = _Kind(_LENGTH, lambda text: _measured(text.encode()), "")
_NESTED = _Kind(_LENGTH, lambda message: _measured(message.SerializeToString()), None)


class Field:
    """One field of a message class; on an object without it, its default value.

    `kind` is one of the constants above or a class of messages. A field that is `repeated` holds a
    list, one that is a `mapping` a dictionary from names.
    """

    name: str

    def __init__(
        self,
        number: int,
        kind: _Kind | type[Message],
        *,
        repeated: bool = False,
        mapping: bool = False,
    ) -> None:
        self.number = number
        self.kind = kind
        self.is_many: bool = repeated or mapping
        self._empty = list if repeated else dict if mapping else None
        values = kind if isinstance(kind, _Kind) else _NESTED
        self._default = values.default
        self.encode: Callable[[Any], bytes] = values.encode
        self.key: bytes = _varint(number << 3 | values.wire)
        if mapping:
            self.encode_many: Callable[[Any], bytes] = self._encode_mapping
        elif repeated and values.packed:
            self.key = _varint(number << 3 | _LENGTH)
            pack = values.packed
            self.encode_many = lambda many: self.key + _measured(pack(many))
        else:
            self.encode_many = self._encode_each

    def _encode_each(self, values: list[Any]) -> bytes:
        return b"".join([self.key + self.encode(value) for value in values])

    def _encode_mapping(self, values: Mapping[str, Any]) -> bytes:
        entries = [b"\x0a" + STRING.encode(k) + b"\x12" + self.encode(v) for k, v in values.items()]
        return b"".join([self.key + _measured(entry) for entry in entries])

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, message: Message | None, owner: type) -> Any:
        """The default: an object's own value is found before this is asked."""
        if message is None:
            return self
        if self._empty:
            return message.__dict__.setdefault(self.name, self._empty())
        return self._default


class Message:
    """A message with the fields that its class declares; those never set are not written."""

    fields: ClassVar[tuple[Field, ...]]
    _names: ClassVar[frozenset[str]]

    def __init_subclass__(cls) -> None:
        declared = [value for value in vars(cls).values() if isinstance(value, Field)]
        cls.fields = tuple(sorted(declared, key=lambda field: field.number))
        cls._names = frozenset(field.name for field in declared)

    def __init__(self, **values: Any) -> None:
        if not self._names.issuperset(values):
            unknown = ", ".join(sorted(values.keys() - self._names))
            raise ValueError(f"{type(self).__name__} has no field {unknown}")
        self.__dict__.update(values)

    def HasField(self, name: str) -> bool:
        """Whether a field was set."""
        return name in self.__dict__

    def SerializeToString(self) -> bytes:
        """The message as it stands in a file."""
        given = self.__dict__
        parts = []
        for field in self.fields:
            value = given.get(field.name)
            if value is None:
                continue
            if not field.is_many:
                parts.append(field.key + field.encode(value))
            elif len(value):
                parts.append(field.encode_many(value))
        return b"".join(parts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return type(self) is type(other) and self.SerializeToString() == other.SerializeToString()

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # fields may change

    def __repr__(self) -> str:
        return "".join(
            line
            for field in self.fields
            if (value := self.__dict__.get(field.name)) is not None
            for line in _written(field.name, value)
        )


def _written(name: str, value: Any) -> list[str]:
    """Lines of text for a field, as protocol buffers print them."""
    if isinstance(value, Mapping):
        pairs = [f'{{\n  key: "{k}"\n  value {_block(v)}\n}}\n' for k, v in value.items()]
        return [f"{name} {pair}" for pair in pairs]
    if isinstance(value, (list, tuple, np.ndarray)):
        return [line for each in value for line in _written(name, each)]
    if isinstance(value, Message):
        return [f"{name} {_block(value)}\n"]
    if isinstance(value, bytes):
        return [f"{name}: {str(value)[1:]}\n"]
    return [f'{name}: "{value}"\n' if isinstance(value, str) else f"{name}: {value}\n"]


def _block(message: Message) -> str:
    lines = repr(message).splitlines()
    return "{\n" + "".join(f"  {line}\n" for line in lines) + "}"
