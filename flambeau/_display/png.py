"""Pictures as PNG files, by the standard library alone."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Any

from flambeau import Tensor

if TYPE_CHECKING:
    import numpy as np

__all__ = ["encode", "png"]

# How many values a pixel has, and the number of that kind of picture in a file.
_KINDS = {1: 0, 2: 4, 3: 2, 4: 6}  # grey, grey and opacity, colour, colour and opacity


def png(ink: Tensor) -> bytes:
    """Black ink of the given strength (uint8, height × width) on a transparent ground."""
    height, width = ink.shape
    # Each pixel is grey and opacity; each row begins with the number of its filter, 0 for none.
    rows = b"".join(b"\0" + b"".join(bytes((0, p)) for p in row) for row in ink.tolist())
    return _file(rows, height, width, 2)


def encode(pixels: np.ndarray[Any, Any]) -> bytes:
    """A picture of bytes (height × width × one to four values)."""
    height, width, values = pixels.shape
    if pixels.dtype != "uint8" or values not in _KINDS:
        raise ValueError(f"a picture has one to four bytes a pixel, not {values} {pixels.dtype}")
    lines = pixels.reshape(height, width * values)
    differences = lines.copy()
    differences[1:] -= lines[:-1]  # filter 2: each line less the one above packs better
    rows = b"".join(b"\2" + line.tobytes() for line in differences)
    return _file(rows, height, width, values)


def _file(rows: bytes, height: int, width: int, values: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, _KINDS[values], 0, 0, 0)
    parts = {b"IHDR": header, b"IDAT": zlib.compress(rows), b"IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in parts.items())


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
