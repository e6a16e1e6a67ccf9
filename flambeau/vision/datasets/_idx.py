"""The IDX format of the MNIST family: a header of sizes, then numbers in big-endian order."""

from __future__ import annotations

import gzip
import lzma
import math
import os
import struct
import zlib
from typing import IO, Any

import flambeau as fb
from flambeau import Tensor

__all__ = ["read_idx"]

_TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
_OPENERS: dict[str, Any] = {"": open, ".gz": gzip.open, ".xz": lzma.open}
_MOST_DIMENSIONS = 32  # the most dimensions of a NumPy array
# The most bytes that one compressed byte can stand for.
_DENSITY = {".gz": 1100, ".xz": 8000}


def read_idx(path: str | os.PathLike[str]) -> Tensor:
    """Read a file, compressed or not; a ValueError names it if it is damaged."""
    name = os.fspath(path)
    suffix = os.path.splitext(name)[1]
    try:
        with _OPENERS.get(suffix, open)(name, "rb") as file:
            return fb.from_numpy(_read(file, name, _DENSITY.get(suffix, 1)))
    except (zlib.error, lzma.LZMAError, EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"{name}: damaged ({error})") from error


def _read(file: IO[bytes], name: str, density: int) -> Any:
    import numpy as np

    start = file.read(4)
    if len(start) < 4 or start[:2] != b"\0\0" or start[2] not in _TYPES:
        raise ValueError(f"{name}: not an IDX file")
    sizes = file.read(4 * start[3])
    if len(sizes) < 4 * start[3]:
        raise ValueError(f"{name}: damaged, it ends in its header")
    shape = struct.unpack(f">{start[3]}I", sizes)
    kind = np.dtype(_TYPES[start[2]])
    size = math.prod(shape) * kind.itemsize
    # Checked before memory is allocated: a header can say anything.
    if start[3] > _MOST_DIMENSIONS or size > density * os.path.getsize(name):
        raise ValueError(
            f"{name}: damaged, its header says {size} bytes of shape {shape} and the file has "
            f"{os.path.getsize(name)}"
        )
    values = np.empty(size, np.uint8)
    found = _fill(file, values.data)
    if found < size or file.read(1):
        more = "more than " if found == size else ""
        raise ValueError(
            f"{name}: damaged, {more}{found} bytes of numbers where the header says {size}"
        )
    numbers = values.view(kind).astype(kind.newbyteorder("="), copy=False)
    try:
        return numbers.reshape(shape)
    except ValueError as error:  # zero in one dimension, and a huge number in another
        raise ValueError(f"{name}: damaged, its header says the shape {shape}") from error


def _fill(file: IO[bytes], space: memoryview) -> int:
    """Read as much as fits; return how much it was."""
    found = 0
    while found < len(space) and (count := file.readinto(space[found:])):  # type: ignore[attr-defined]
        found += count
    return found
