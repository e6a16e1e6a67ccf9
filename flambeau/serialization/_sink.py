"""Files and file-like objects that checkpoints are written to."""

from __future__ import annotations

import os
import zlib
from typing import Any

from flambeau import _C, Tensor
from flambeau.serialization._options import settings

__all__: list[str] = []

_BUFFER = 1 << 16


class Sink:
    """An object with ``write``."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.position = 0  # how much was written here

    def write(self, data: bytes) -> int:
        """Write bytes and return their checksum."""
        self._put(memoryview(data))
        return zlib.crc32(data) if settings.computes_crc32 else 0

    def write_tensor(self, tensor: Tensor) -> int:
        """Write a tensor of bytes, without a copy, and return the checksum."""
        if settings.skips_data:
            return self._leave_empty(tensor.numel())
        if tensor.numel() == 0:
            return 0
        self._put(memoryview(tensor))
        return _C._crc32(tensor, 0) if settings.computes_crc32 else 0

    def flush(self) -> None:
        """Flush buffered bytes."""
        if hasattr(self._file, "flush"):
            self._file.flush()

    def _put(self, data: memoryview) -> None:
        self.position += len(data)
        while data:
            count = self._file.write(data)
            # A file without a buffer may take a part only, and says so.
            data = data[count:] if isinstance(count, int) and count < len(data) else data[:0]

    def _leave_empty(self, size: int) -> int:
        for start in range(0, size, _BUFFER):
            self._put(memoryview(bytes(min(_BUFFER, size - start))))
        return 0


class FileSink(Sink):
    """An open file; large tensors go from their memory to the system without the interpreter.

    Small pieces are gathered here and not in a file object, which would write them when it is
    dropped, to whatever file the descriptor stands for by then.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__(None)
        self._descriptor = descriptor
        self._gathered = bytearray()

    def write_tensor(self, tensor: Tensor) -> int:
        if tensor.numel() < _BUFFER or settings.skips_data:
            return super().write_tensor(tensor)
        self.flush()
        self.position += tensor.numel()
        return _C._write_bytes(self._descriptor, tensor, settings.computes_crc32)

    def flush(self) -> None:
        view = memoryview(bytes(self._gathered))
        self._gathered.clear()
        while view:
            view = view[os.write(self._descriptor, view) :]

    def _put(self, data: memoryview) -> None:
        self.position += len(data)
        self._gathered += data
        if len(self._gathered) >= _BUFFER:
            self.flush()
