"""Writing of a checkpoint's zip archive.

Records are stored as they are, each beginning at a multiple of 64 bytes so that a tensor can lie on
the mapped file. A record's checksum follows its contents, and nothing is written twice: the archive
can go to a pipe.
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

from flambeau import Tensor
from flambeau.serialization import _zip_format as zf
from flambeau.serialization._sink import Sink

__all__: list[str] = []

ALIGNMENT = 64
_FLAGS = 0x0808  # sizes and checksum follow the contents; names are UTF-8
_LIMIT = zf.WIDE  # what no longer fits into 32 bits
_PADDING_ID = b"FB"


class _Record(NamedTuple):
    name: bytes
    offset: int
    size: int
    checksum: int


class ZipWriter:
    """An archive whose records lie in a folder called ``name``."""

    def __init__(self, sink: Sink, name: str) -> None:
        self._sink = sink
        self._folder = name
        self._records: list[_Record] = []

    def add(self, name: str, contents: bytes | Tensor) -> None:
        """Write one record."""
        path = f"{self._folder}/{name}".encode()
        offset = self._sink.position
        if isinstance(contents, bytes):
            size = len(contents)
            self._sink.write(_local_header(path, offset, size))
            checksum = self._sink.write(contents)
        else:
            size = contents.numel()
            self._sink.write(_local_header(path, offset, size))
            checksum = self._sink.write_tensor(contents)
        self._records.append(_Record(path, offset, size, checksum))
        sizes = struct.pack("<2Q" if size >= _LIMIT else "<2I", size, size)
        self._sink.write(zf.DESCRIPTOR_MARK + struct.pack("<I", checksum) + sizes)

    def finish(self) -> None:
        """Write a fingerprint of the contents and the table of all records."""
        self.add(".data/serialization_id", self._fingerprint())
        start = self._sink.position
        self._sink.write(b"".join(map(_central_entry, self._records)))
        self._sink.write(_end(len(self._records), start, self._sink.position - start))

    def _fingerprint(self) -> bytes:
        names = zlib.crc32(b"\n".join(record.name for record in self._records))
        checksums = struct.pack(f"<{len(self._records)}I", *(r.checksum for r in self._records))
        return f"{names:020d}{zlib.crc32(checksums):020d}".encode()


def _local_header(path: bytes, offset: int, size: int) -> bytes:
    wide = struct.pack("<2H2Q", zf.WIDE_ID, 16, size, size) if size >= _LIMIT else b""
    # The extra field that pads has a head of its own: an id and a length.
    start = offset + zf.LOCAL.size + len(path) + len(wide) + 4
    padding = -start % ALIGNMENT
    extra = wide + _PADDING_ID + struct.pack("<H", padding) + b"Z" * padding
    shown = zf.WIDE if wide else 0
    head = zf.LOCAL.pack(zf.LOCAL_MARK, 0, _FLAGS, 0, 0, 0, 0, shown, shown, len(path), len(extra))
    return head + path + extra


def _central_entry(record: _Record) -> bytes:
    wide = [value for value in (record.size, record.size, record.offset) if value >= _LIMIT]
    extra = struct.pack(f"<2H{len(wide)}Q", zf.WIDE_ID, 8 * len(wide), *wide) if wide else b""
    size, offset = _narrow(record.size), _narrow(record.offset)
    lengths = (len(record.name), len(extra), 0)
    head = zf.CENTRAL.pack(
        zf.CENTRAL_MARK,
        0,
        0,
        _FLAGS,
        0,
        0,
        0,
        record.checksum,
        size,
        size,
        *lengths,
        0,
        0,
        0,
        offset,
    )
    return head + record.name + extra


def _end(count: int, start: int, size: int) -> bytes:
    """The end of the archive: its 64-bit form, the locator of that, and the 32-bit form."""
    wide = zf.END64.pack(zf.END64_MARK, 44, 0x031E, 45, 0, 0, count, count, size, start)
    place = zf.END64_PLACE.pack(zf.END64_PLACE_MARK, 0, start + size, 1)
    counts = (min(count, 0xFFFF), min(count, 0xFFFF))
    sizes = (_narrow(size), _narrow(start))
    return wide + place + zf.END.pack(zf.END_MARK, 0, 0, *counts, *sizes, 0)


def _narrow(value: int) -> int:
    return zf.WIDE if value >= _LIMIT else value
