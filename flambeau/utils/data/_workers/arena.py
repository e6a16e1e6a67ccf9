"""Batches in shared memory: how the objects of a batch are flattened and rebuilt.

A batch is pickled. For a tensor, or an array with its own buffer, the pickler writes only the
position of the elements in the worker's arena; a batch that the
collate function has written there is not copied at all. See Note [Arenas] in csrc/core/arena.h.
"""

from __future__ import annotations

import io
import os
import pickle
import threading
from multiprocessing import reduction
from typing import Any

import flambeau
from flambeau import _C, Tensor
from flambeau.multiprocessing.reductions import reduce_tensor

__all__ = ["ArenaFile", "BatchReader", "BatchWriter", "Sent"]

# A longer pickle goes through the arena too, so that messages always fit into a socket's buffer.
_LONG = 16384

# The message of a batch: names of its segments, the pickle or its offset, offsets of the buffers.
Sent = tuple[list[tuple[int, int]], Any, list[tuple[int, int, int]]]


class ArenaFile:
    """The file behind an arena, which can be sent to a new process."""

    def __init__(self, fd: int | None = None) -> None:
        self.fd = _C._new_shared_file() if fd is None else fd

    def __del__(self) -> None:
        os.close(self.fd)

    def __reduce__(self) -> Any:
        return _received_file, (reduction.DupFd(self.fd),)


def _received_file(handle: Any) -> ArenaFile:
    return ArenaFile(handle.detach())


class BatchWriter:
    """The worker's side."""

    def __init__(self, file: ArenaFile, spare: int) -> None:
        self._arena = _C._ArenaWriter(file.fd, spare)

    def empty(self, shape: tuple[int, ...], dtype: flambeau.dtype) -> Tensor:
        """A tensor in the batch that is being made."""
        return self._arena.empty(shape, dtype)

    def write(self, batch: Any) -> Sent:
        """End the batch: what has to be sent for the other side to have it."""
        buffers: list[tuple[int, int, int]] = []
        out = io.BytesIO()
        try:
            _Pickler(out, self._arena, buffers).dump(batch)
            pickled: Any = out.getbuffer()
            pickled = self._arena.store(pickled) if len(pickled) > _LONG else bytes(pickled)
        except BaseException:
            self.discard()
            raise
        return self._arena.commit(), pickled, buffers

    def discard(self) -> None:
        """Forget the batch that was being made."""
        self._arena.abandon()


class _Pickler(pickle.Pickler):
    def __init__(
        self, out: io.BytesIO, arena: _C._ArenaWriter, buffers: list[tuple[int, int, int]]
    ) -> None:
        def keep(buffer: pickle.PickleBuffer) -> None:
            with buffer.raw() as memory:
                buffers.append(arena.store(memory))

        super().__init__(out, protocol=5, buffer_callback=keep)
        self._arena = arena

    def reducer_override(self, item: Any) -> Any:
        if _is_memory_alone(item):
            return _tensor_at, self._arena.pack(item)
        if isinstance(item, Tensor) and item.requires_grad:
            return reduce_tensor(item)
        return NotImplemented


def _is_memory_alone(item: Any) -> bool:
    """Whether a tensor is nothing but elements in memory."""
    if type(item) is not Tensor or item.requires_grad or item.layout is not flambeau.strided:
        return False
    return item.device.type == "cpu" and not item.__dict__


class BatchReader:
    """The loader's side."""

    def __init__(self, file: ArenaFile) -> None:
        self._arena = _C._ArenaReader(file.fd)

    def read(self, sent: Sent) -> Any:
        """The batch. Its memory is the worker's again once the last tensor of it is gone."""
        segments, pickled, places = sent
        batch = self._arena.open(segments)
        if not isinstance(pickled, bytes):
            pickled = memoryview(batch.bytes(*pickled))
        _current.batch = batch
        try:
            return pickle.loads(pickled, buffers=(batch.bytes(*place) for place in places))
        finally:
            _current.batch = None

    def drop(self, sent: Sent) -> None:
        """Give a batch that nobody wants back to the worker."""
        self._arena.open(sent[0])


# The batch that this thread is reading.
_current = threading.local()


def _tensor_at(*place: Any) -> Tensor:
    """What the pickle of a tensor in a batch calls."""
    tensor: Tensor = _current.batch.tensor(*place)
    return tensor
