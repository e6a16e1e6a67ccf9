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

    def write(self, data: Any) -> int:
        """Write bytes and return their checksum."""
        self._file.write(data)
        self.position += len(data)
        return zlib.crc32(data) if settings.computes_crc32 else 0

    def write_tensor(self, tensor: Tensor) -> int:
        """Write a tensor of bytes, without a copy, and return the checksum."""
        if settings.skips_data:
            return self._leave_empty(tensor.numel())
        if tensor.numel() == 0:
            return 0
        self._file.write(memoryview(tensor))
        self.position += tensor.numel()
        return _C._crc32(tensor, 0) if settings.computes_crc32 else 0

    def _leave_empty(self, size: int) -> int:
        for start in range(0, size, _BUFFER):
            self._file.write(bytes(min(_BUFFER, size - start)))
        self.position += size
        return 0

    def flush(self) -> None:
        if hasattr(self._file, "flush"):
            self._file.flush()


class FileSink(Sink):
    """An open file; large tensors go from their memory to the system without the interpreter."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(os.fdopen(descriptor, "wb", _BUFFER, closefd=False))
        self._descriptor = descriptor

    def write_tensor(self, tensor: Tensor) -> int:
        if tensor.numel() < _BUFFER or settings.skips_data:
            return super().write_tensor(tensor)
        self._file.flush()
        self.position += tensor.numel()
        return _C._write_bytes(self._descriptor, tensor, settings.computes_crc32)
