"""One process at a time at a file or folder; the lock is gone with the process that held it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # a system without such locks: there two processes must not work at once
    fcntl = None  # type: ignore[assignment]

__all__ = ["held"]


@contextlib.contextmanager
def held(path: str, folder: bool = False) -> Iterator[bool]:
    """Hold a file, or a folder, that is made if need be; gives whether another process had it.

    Whoever held it may have renamed or removed it. Then it is made anew.
    """
    waited = False
    while True:
        descriptor = _opened(path, folder)
        try:
            waited = _lock(descriptor) or waited
            if not _is_at(path, descriptor):
                continue
            yield waited
            return
        finally:
            os.close(descriptor)


def _opened(path: str, folder: bool) -> int:
    while folder:
        os.makedirs(path, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # removed between the two calls
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)


def _lock(descriptor: int) -> bool:
    """Take the lock; whether there was somebody to wait for."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return True
    except OSError:  # a network file system without locks
        return False
    return False


def _is_at(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
