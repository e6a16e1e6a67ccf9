"""The IDX format of the MNIST family: a header of sizes, then numbers, highest byte first."""

from __future__ import annotations

import gzip
import lzma
import os
import struct
import zlib
from typing import Any

import flambeau as fb
from flambeau import Tensor

__all__ = ["read_idx"]

_TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
_OPENERS: dict[str, Any] = {"": open, ".gz": gzip.open, ".xz": lzma.open}


def read_idx(path: str | os.PathLike[str]) -> Tensor:
    """Read a file, compressed or not; ValueError names it where it is damaged."""
    import numpy as np

    name = os.fspath(path)
    opener = _OPENERS.get(os.path.splitext(name)[1], open)
    try:
        with opener(name, "rb") as file:
            data = file.read()
    except (zlib.error, lzma.LZMAError, EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"{name}: damaged ({error})") from error
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in _TYPES:
        raise ValueError(f"{name}: not a file of the IDX format")
    rank = data[3]
    start = 4 + 4 * rank
    shape = struct.unpack(f">{rank}I", data[4:start]) if len(data) >= start else ()
    kind = np.dtype(_TYPES[data[2]])
    count = int(np.prod(shape, dtype=np.int64))
    if len(data) != start + count * kind.itemsize:
        raise ValueError(
            f"{name}: damaged, {len(data)} bytes where the header says "
            f"{start + count * kind.itemsize}"
        )
    values = np.frombuffer(data, kind, offset=start).astype(kind.newbyteorder("="))
    return fb.from_numpy(values.reshape(shape))
