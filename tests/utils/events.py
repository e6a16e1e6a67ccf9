"""A reader of event files: records, their checksums, and the messages in them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flambeau.utils.tensorboard._messages import Event
from flambeau.utils.tensorboard._wire import BOOL, DOUBLE, FLOAT, INT, STRING, Message

CASTAGNOLI = 0x82F63B78


def crc32c(data: bytes) -> int:
    """The checksum bit by bit, from its definition."""
    remainder = 0xFFFF_FFFF
    for byte in data:
        remainder ^= byte
        for _ in range(8):
            remainder = remainder >> 1 ^ (CASTAGNOLI if remainder & 1 else 0)
    return remainder ^ 0xFFFF_FFFF


def masked(data: bytes) -> int:
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFF_FFFF


def records(path: Path) -> Iterator[bytes]:
    """The content of every record of a file, all of which must be whole."""
    data = path.read_bytes()
    at = 0
    while at < len(data):
        length, length_crc = struct.unpack_from("<QI", data, at)
        content = data[at + 12 : at + 12 + length]
        (content_crc,) = struct.unpack_from("<I", data, at + 12 + length)
        assert len(content) == length
        assert length_crc == masked(data[at : at + 8])
        assert content_crc == masked(content)
        yield content
        at += 16 + length


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("events.out.tfevents.*"))


def events(folder: Path) -> list[Any]:
    """The events of all files of a folder, without those that only open a file."""
    found = [decode(Event, content) for path in files(folder) for content in records(path)]
    return [event for event in found if not event.HasField("source_metadata")]


def values(folder: Path) -> dict[str, list[Any]]:
    """The values of a folder's summaries by their tags."""
    found: dict[str, list[Any]] = {}
    for event in events(folder):
        for value in event.summary.value if event.HasField("summary") else ():
            found.setdefault(value.tag, []).append(value)
    return found


def plugin_of(value: Any) -> tuple[str, bytes]:
    data = value.metadata.plugin_data
    return data.plugin_name, data.content


def decode(kind: type[Message], data: bytes) -> Any:
    """A message of the given class."""
    message = kind()
    fields = {field.number: field for field in kind.fields}
    for number, wire, raw in raw_fields(data):
        field = fields[number]
        if isinstance(getattr(message, field.name), dict):
            (_, _, key), (_, _, inner) = raw_fields(raw)
            getattr(message, field.name)[key.decode()] = _value(field.kind, inner)
        elif isinstance(getattr(message, field.name), list):
            packed = wire == 2 and field.kind in (INT, BOOL, FLOAT, DOUBLE)
            many = _unpacked(field.kind, raw) if packed else [_value(field.kind, raw)]
            getattr(message, field.name).extend(many)
        else:
            setattr(message, field.name, _value(field.kind, raw))
    return message


def raw_fields(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """Number, kind of length and value of each field."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        wire = key & 7
        if wire == 0:
            value, end = _varint(data, at)
            yield key >> 3, wire, value
        else:
            if wire == 2:
                size, at = _varint(data, at)
            else:
                size = {1: 8, 5: 4}[wire]
            end = at + size
            yield key >> 3, wire, data[at:end]
        at = end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        number |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return number, at


def _unpacked(kind: Any, raw: bytes) -> list[Any]:
    if kind in (FLOAT, DOUBLE):
        letter, size = ("f", 4) if kind is FLOAT else ("d", 8)
        return list(struct.unpack(f"<{len(raw) // size}{letter}", raw))
    found, at = [], 0
    while at < len(raw):
        number, at = _varint(raw, at)
        found.append(_value(kind, number))
    return found


def _value(kind: Any, raw: Any) -> Any:
    if isinstance(kind, type):
        return decode(kind, raw)
    if kind in (FLOAT, DOUBLE):
        return struct.unpack("<f" if kind is FLOAT else "<d", raw)[0]
    if kind is STRING:
        return raw.decode()
    if kind is INT:
        return raw - (1 << 64) if raw >> 63 else raw
    return bool(raw) if kind is BOOL else raw
