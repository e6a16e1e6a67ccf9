"""``FileStore``: a store in a file, which the processes of a machine share."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import time
import weakref
from collections.abc import Iterator

from flambeau.distributed._store import Store

__all__: list[str] = []

# A record is a change: the length of a name, the name, the length of its value, the value. A
# length of -1 is that of a value that was taken away.
_LENGTH = struct.Struct("<i")
_STORES = "refcount/"  # under this name: how many stores have the file open
_PAUSE = 0.01  # seconds between two looks at the file, while waiting


class FileStore(Store):
    """A store in a file, of the processes of a machine. The file goes with the last of them."""

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        self.path = file_name
        self._place = 0  # in the file: what is before it has been read
        self._file = os.open(file_name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.add(_STORES, 1)
        weakref.finalize(self, _close, self._file, file_name, world_size >= 0)

    @contextlib.contextmanager
    def _held(self) -> Iterator[dict[str, bytes]]:
        with self._changed, _locked(self._file):
            self._place += _apply(_read(self._file, self._place), self._values)
            yield self._values

    def _put(self, key: str, value: bytes | None) -> None:
        super()._put(key, value)
        record = _record(key, value)
        os.pwrite(self._file, record, self._place)
        self._place += len(record)

    def _waited(self, keys: list[str], seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not self.check(keys):
            if time.monotonic() > end:
                return False
            time.sleep(_PAUSE)
        return True


@contextlib.contextmanager
def _locked(file: int) -> Iterator[None]:
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _read(file: int, place: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size - place, place)


def _record(key: str, value: bytes | None) -> bytes:
    name = key.encode()
    length = -1 if value is None else len(value)
    return _LENGTH.pack(len(name)) + name + _LENGTH.pack(length) + (value or b"")


def _apply(records: bytes, values: dict[str, bytes]) -> int:
    """Make the changes that are written down, and return how long their records are."""
    place = 0
    while place < len(records):
        name, place = _field(records, place)
        value, place = _field(records, place)
        if name is None:
            raise RuntimeError("FileStore: the file holds something else than a store")
        if value is None:
            values.pop(name.decode(), None)
        else:
            values[name.decode()] = value
    return place


def _field(records: bytes, place: int) -> tuple[bytes | None, int]:
    """A name or value, and the place after it."""
    if place + _LENGTH.size > len(records):
        raise RuntimeError("FileStore: the file holds something else than a store")
    (length,) = _LENGTH.unpack_from(records, place)
    begin = place + _LENGTH.size
    end = begin + max(length, 0)
    if length < -1 or end > len(records):
        raise RuntimeError("FileStore: the file holds something else than a store")
    return (None if length < 0 else records[begin:end]), end


def _close(file: int, path: str, removes: bool) -> None:
    """One store less; the last one takes the file away."""
    with _locked(file):
        values: dict[str, bytes] = {}
        end = _apply(_read(file, 0), values)
        left = int(values.get(_STORES, b"1")) - 1
        os.pwrite(file, _record(_STORES, str(left).encode()), end)
        if removes and left <= 0:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
    os.close(file)
