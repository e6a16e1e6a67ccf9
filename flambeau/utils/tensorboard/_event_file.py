"""Event files: whole records with checksums, written by any thread and kept across crashes."""

from __future__ import annotations

import atexit
import itertools
import os
import socket
import struct
import threading
import time
import warnings
import weakref
from typing import Protocol

from flambeau._C import _crc32c
from flambeau.utils.tensorboard._messages import Event, SourceMetadata

__all__ = ["EventFile", "framed"]


class _Serializable(Protocol):
    def SerializeToString(self) -> bytes: ...


_length = struct.Struct("<Q").pack
_checksum = struct.Struct("<I").pack


def _masked(data: bytes) -> bytes:
    """The checksum, rotated and offset so that a checksum of checksums is not a weak one."""
    crc = _crc32c(data)
    return _checksum(((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFF_FFFF)


def framed(content: bytes) -> bytes:
    """One record: the length, its checksum, the content, its checksum."""
    length = _length(len(content))
    return b"".join((length, _masked(length), content, _masked(content)))


class EventFile:
    """A new event file in a directory.

    Records are gathered in memory and appended to the file when there are `max_queue` of them, when
    `flush_secs` seconds have passed, on `flush` and when the interpreter ends, each time by one
    system call: what is in the file is always whole records, those of forked processes too.
    """

    _numbers = itertools.count()

    def __init__(self, log_dir: str, max_queue: int, flush_secs: float, suffix: str) -> None:
        os.makedirs(log_dir, exist_ok=True)
        place = f"{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}"
        name = f"events.out.tfevents.{place}.{next(self._numbers)}{suffix}"
        self.path: str = os.path.join(log_dir, name)
        self._max_queue = max(1, max_queue)
        self._flush_secs = flush_secs
        # Appending keeps the records of a process that was forked apart from ours.
        self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115  (closed by `close`)
        self._start_afresh()
        _open_files.add(self)
        source = SourceMetadata(writer="flambeau.utils.tensorboard")
        self.add(Event(wall_time=time.time(), file_version="brain.Event:2", source_metadata=source))
        self.flush()

    def _start_afresh(self) -> None:
        """Nothing gathered, no thread: so also after a fork, whose parent writes what it has."""
        self._records: list[bytes] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._flusher: threading.Thread | None = None

    def add(self, event: _Serializable) -> None:
        """Add one event."""
        record = framed(event.SerializeToString())
        with self._lock:
            if self._file.closed:
                raise ValueError(f"the event file {self.path} is closed")
            self._records.append(record)
            if len(self._records) >= self._max_queue:
                self._write()
            elif self._flusher is None:
                self._start_flusher()

    def flush(self) -> None:
        """Append what was gathered to the file."""
        with self._lock:
            self._write()

    def close(self) -> None:
        """Flush, and close the file. Later events are refused."""
        self._closing.set()
        with self._lock:
            if not self._file.closed:
                self._write()
                self._file.close()
        _open_files.discard(self)

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.close()

    def _write(self) -> None:
        if not self._records:
            return
        content = memoryview(b"".join(self._records))
        self._records.clear()
        written = 0
        try:
            while written < len(content):
                written += self._file.write(content[written:])
        except OSError:
            # No room on the disk, say: half a record would hide all that come after it.
            self._file.truncate(os.fstat(self._file.fileno()).st_size - written)
            raise

    def _start_flusher(self) -> None:
        # The thread holds no reference to this object, which may be collected without being closed.
        arguments = (weakref.ref(self), self._closing, self._flush_secs)
        self._flusher = threading.Thread(
            target=_flush_now_and_then, args=arguments, name="flush of events", daemon=True
        )
        try:
            self._flusher.start()
        except RuntimeError:  # the interpreter ends
            self._write()


def _flush_now_and_then(
    file: weakref.ref[EventFile], closing: threading.Event, seconds: float
) -> None:
    while not closing.wait(seconds):
        target = file()
        if target is None:
            return
        try:
            target.flush()
        except OSError as problem:
            warnings.warn(f"events were lost: {problem}", RuntimeWarning, stacklevel=1)
        del target


_open_files: weakref.WeakSet[EventFile] = weakref.WeakSet()


@atexit.register
def _flush_all() -> None:
    for file in list(_open_files):
        file.flush()


def _forget_in_child() -> None:
    for file in list(_open_files):
        file._start_afresh()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
