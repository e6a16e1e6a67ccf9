"""Checkpoints made by hand, sound ones and bad ones."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from collections.abc import Iterable
from typing import Any

import flambeau as fb


def saved(value: Any, **options: Any) -> bytes:
    """The file that ``value`` is saved as."""
    file = io.BytesIO()
    fb.save(value, file, **options)
    return file.getvalue()


def load(data: bytes, **options: Any) -> Any:
    return fb.load(io.BytesIO(data), **options)


def archive(pickled: bytes, records: dict[str, bytes] | None = None) -> bytes:
    """A checkpoint of a pickle and storages."""
    named = {f"data/{key}": contents for key, contents in (records or {}).items()}
    return packed({"data.pkl": pickled, "version": b"3\n", "byteorder": b"little", **named})


def packed(records: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """A zip archive of records, in a folder."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as writer:
        for name, contents in records.items():
            writer.writestr(f"archive/{name}", contents)
    return file.getvalue()


def legacy(pickled: bytes, keys: Iterable[str] = (), storages: bytes = b"") -> bytes:
    """A checkpoint of the older format."""
    head = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
    parts = [*(pickle.dumps(part, 2) for part in head), pickled, pickle.dumps(list(keys), 2)]
    return b"".join(parts) + storages


def pickled_tensor(
    *,
    kind: bytes = b"ctorch\nFloatStorage\n",
    key: bytes = b"U\x010",
    location: bytes = b"U\x03cpu",
    numel: int = 4,
    offset: int = 0,
    size: tuple[int, ...] = (4,),
    stride: tuple[int, ...] = (1,),
    pid: bytes | None = None,
) -> bytes:
    """The pickle of one tensor, whose parts may be nonsense."""
    storage = pid if pid is not None else b"(U\x07storage" + kind + key + location + number(numel)
    parts = [number(offset), numbers(size), numbers(stride), pickle.NEWFALSE]
    hooks = b"ccollections\nOrderedDict\n)R"
    head = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"tQ"
    return head + b"".join(parts) + hooks + b"tR."


def number(value: int) -> bytes:
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return pickle.LONG4 + struct.pack("<i", len(data)) + data


def numbers(values: tuple[int, ...]) -> bytes:
    return b"(" + b"".join(map(number, values)) + b"t"
