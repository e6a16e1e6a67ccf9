"""PNG files of images: rows filtered by the core, compressed by zlib."""

from __future__ import annotations

import struct
import zlib

from flambeau import _C, Tensor

__all__ = ["encode"]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KINDS = {1: 0, 2: 4, 3: 2, 4: 6}  # PNG colour type by number of channels; 2 and 4 include alpha
_PIECE = 8192  # bytes of a part of the rows
_LOOKAHEAD = 262  # what zlib needs beside the bytes it has seen


def encode(image: Tensor, level: int = 6) -> bytearray:
    """Encode an image (1 to 4 channels, height, width) of bytes."""
    rows = _C._filter_png(image)
    channels, height, width = image.shape
    header = struct.pack(">IIBBBBB", width, height, 8, _KINDS[channels], 0, 0, 0)
    data = _compressed(rows, level)
    parts = [_SIGNATURE, _part(b"IHDR", header)]
    parts += [_part(b"IDAT", data[at : at + _PIECE]) for at in range(0, len(data), _PIECE)]
    parts.append(_part(b"IEND", b""))
    return bytearray().join(parts)


def _compressed(rows: Tensor, level: int) -> bytes:
    window = 15
    while window > 9 and rows.numel() + _LOOKAHEAD <= 1 << (window - 1):
        window -= 1
    deflater = zlib.compressobj(level, zlib.DEFLATED, window, 8, zlib.Z_FILTERED)
    return deflater.compress(memoryview(rows)) + deflater.flush()


def _part(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(data, zlib.crc32(kind))
    return b"".join((struct.pack(">I", len(data)), kind, data, struct.pack(">I", checksum)))
