"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator

__all__: list[str] = []


@contextlib.contextmanager
def replacing(path: str) -> Iterator[int]:
    """Give the descriptor of a new file, which takes the place of ``path`` at the end.

    Until then, and if anything goes wrong, an older file at ``path`` is as it was. A link is
    followed, and the permissions of the older file are kept. What is no ordinary file (a pipe, a
    terminal), or lies in a folder that must not be written to, is written to directly.
    """
    target = os.path.realpath(path)
    old = _status(target)
    if old is not None and stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(21, "Is a directory", path)
    if old is not None and not stat.S_ISREG(old.st_mode):
        with _directly(target) as descriptor:
            yield descriptor
        return
    # Short, because a name may be as long as the file system allows already.
    temporary = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except PermissionError:
        if old is None:
            raise
        with _directly(target) as descriptor:
            yield descriptor
        return
    try:
        try:
            yield descriptor
            if old is not None:
                _copy_owner(descriptor, old)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def _directly(path: str) -> Iterator[int]:
    descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _copy_owner(descriptor: int, old: os.stat_result) -> None:
    if (old.st_uid, old.st_gid) != (os.getuid(), os.getgid()):
        with contextlib.suppress(PermissionError):  # then the new file belongs to who wrote it
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
