"""Files and file-like objects that checkpoints are read from, seen as numbered bytes."""

from __future__ import annotations

import io
import mmap
import os
from typing import IO, Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.serialization._options import settings

__all__: list[str] = []


_SMALL = 1 << 20  # bytes that the system reads in one piece


class Source:
    """An object with ``seek`` and ``read``; byte 0 is where it stands now."""

    is_mapped = False

    def __init__(self, file: Any, name: str) -> None:
        self.name = name
        self._all: Any = None
        self.file = file
        raw = getattr(file, "raw", file)
        # Of a file as it is, and not of something that unpacks one on the way.
        self._descriptor = raw.fileno() if isinstance(raw, io.FileIO) else None
        self._start = file.tell()
        file.seek(0, os.SEEK_END)
        self.size: Any = file.tell() - self._start
        file.seek(self._start)

    def read(self, offset: int, size: int) -> bytes:
        """Bytes that are known to lie inside; RuntimeError if the file has shrunk meanwhile."""
        self._check(offset, size)
        if self._descriptor is not None and size <= _SMALL:
            data = os.pread(self._descriptor, size, self._start + offset)
        else:
            self.file.seek(self._start + offset)
            data = self.file.read(size)
        if len(data) != size:
            raise self._too_short()
        return data

    def tensor(self, offset: int, size: int) -> Tensor:
        """The bytes as a tensor of its own."""
        self._check(offset, size)
        tensor = fb.empty(size, dtype=fb.uint8, device="cpu")
        self.fill([offset], [tensor])
        return tensor

    def fill(self, offsets: list[int], tensors: list[Tensor]) -> None:
        """Read into tensors of bytes; of a file all together, on several threads."""
        for offset, tensor in zip(offsets, tensors, strict=True):
            self._check(offset, tensor.numel())
            if settings.skips_data:
                tensor.zero_()
        if settings.skips_data:
            return
        if self._descriptor is not None:
            starts = [self._start + offset for offset in offsets]
            if not _C._read_bytes(self._descriptor, starts, tensors):
                raise self._too_short()
            return
        for offset, tensor in zip(offsets, tensors, strict=True):
            if tensor.numel():
                self._read_into(memoryview(tensor), offset)

    def _read_into(self, view: memoryview, offset: int) -> None:
        if not hasattr(self.file, "readinto"):
            view[:] = self.read(offset, len(view))
            return
        self.file.seek(self._start + offset)
        while view:
            count = self.file.readinto(view)
            if not count:
                raise self._too_short()
            view = view[count:]

    def everything(self) -> Any:
        """All bytes, for formats that must be read to know where they end."""
        if self._all is None:
            self._all = self._map_or_read()
        return self._all

    def _map_or_read(self) -> Any:
        if self._descriptor is None:
            return self.read(0, self.size)
        whole = mmap.mmap(self._descriptor, 0, access=mmap.ACCESS_READ)
        return memoryview(whole)[self._start :]

    def position(self) -> int:
        place: int = self.file.tell() - self._start
        return place

    def move_to(self, offset: int) -> None:
        """Leave the file at this position, for the next reader."""
        self.file.seek(self._start + offset)

    def _check(self, offset: int, size: int) -> None:
        if offset < 0 or size < 0 or offset + size > self.size:
            raise RuntimeError(
                f"load: {self.name}: {size} bytes at {offset} are wanted, the file has {self.size}"
            )

    def _too_short(self) -> RuntimeError:
        return RuntimeError(f"load: {self.name}: the file is shorter than it was a moment ago")


class MappedSource(Source):
    """A memory-mapped file: nothing is read until it is accessed."""

    is_mapped = True

    def __init__(self, file: IO[bytes], name: str, is_shared: bool) -> None:
        super().__init__(file, name)
        access = mmap.ACCESS_WRITE if is_shared else mmap.ACCESS_COPY
        self._map = mmap.mmap(file.fileno(), 0, access=access)

    def tensor(self, offset: int, size: int) -> Tensor:
        self._check(offset, size)
        if size == 0:
            return fb.empty(0, dtype=fb.uint8, device="cpu")
        return fb.frombuffer(self._map, dtype=fb.uint8, count=size, offset=offset)
