"""Pictures as PNG files, by the standard library alone."""

from __future__ import annotations

import struct
import zlib

from flambeau import Tensor

__all__ = ["png"]


def png(ink: Tensor) -> bytes:
    """Black ink of the given strength (uint8, height × width) on a transparent ground."""
    height, width = ink.shape
    # Each pixel is grey and opacity; each row begins with the number of its filter, 0 for none.
    rows = b"".join(b"\0" + b"".join(bytes((0, p)) for p in row) for row in ink.tolist())
    header = struct.pack(">IIBBBBB", width, height, 8, 4, 0, 0, 0)
    parts = {b"IHDR": header, b"IDAT": zlib.compress(rows, 9), b"IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in parts.items())


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
