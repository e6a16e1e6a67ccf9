"""PNG files of images: rows filtered by the core, compressed by zlib."""

from __future__ import annotations

import struct
import zlib

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.vision.io._files import check_elements

__all__ = ["encode_png"]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLORS = {1: 0, 3: 2}  # how a file calls so many channels
_PIECE = 8192  # bytes of a part of the rows
_LOOKAHEAD = 262  # what zlib needs beside the bytes it has seen


def encode_png(image: Tensor, level: int) -> Tensor:
    """The file of an image (1 or 3, H, W) of bytes."""
    if not isinstance(image, Tensor):
        raise TypeError(f"expected a tensor, got {type(image).__name__}")
    check_elements(image)
    rows = _C._filter_png(image)
    channels, height, width = image.shape
    header = struct.pack(">IIBBBBB", width, height, 8, _COLORS[channels], 0, 0, 0)
    data = _compressed(rows, level)
    parts = [_SIGNATURE, _part(b"IHDR", header)]
    parts += [_part(b"IDAT", data[at : at + _PIECE]) for at in range(0, len(data), _PIECE)]
    parts.append(_part(b"IEND", b""))
    return fb.frombuffer(bytearray().join(parts), dtype=fb.uint8)


def _compressed(rows: Tensor, level: int) -> bytes:
    window = 15
    while window > 9 and rows.numel() + _LOOKAHEAD <= 1 << (window - 1):
        window -= 1
    deflater = zlib.compressobj(level, zlib.DEFLATED, window, 8, zlib.Z_FILTERED)
    return deflater.compress(memoryview(rows)) + deflater.flush()


def _part(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(data, zlib.crc32(kind))
    return b"".join((struct.pack(">I", len(data)), kind, data, struct.pack(">I", checksum)))
