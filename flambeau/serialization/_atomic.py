"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
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
        raise IsADirectoryError(errno.EISDIR, "Is a directory", path)
    try:
        new = _NewFile(os.path.dirname(target)) if _is_replaceable(old) else None
    except PermissionError:
        if old is None:
            raise
        new = None
    if new is None:
        with _directly(target) as descriptor:
            yield descriptor
        return
    with new:
        yield new.descriptor
        if old is not None:
            _copy_owner(new.descriptor, old)
        new.move_to(target)


class _NewFile:
    """A file without a name where the system can have one: if the program is killed it is gone."""

    def __init__(self, folder: str) -> None:
        # Short, because a name may be as long as the file system allows already.
        self._name = os.path.join(folder, f".{secrets.token_hex(8)}.tmp")
        self._is_named = False
        try:
            self.descriptor = _open_nameless(folder)
        except OSError:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            self.descriptor = os.open(self._name, flags, 0o666)
            self._is_named = True

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        os.close(self.descriptor)
        if self._is_named:
            os.unlink(self._name)

    def move_to(self, target: str) -> None:
        os.fsync(self.descriptor)  # or a crash of the system could leave the name of an empty file
        if not self._is_named:
            # With a folder to start from, which an absolute path ignores, the link is followed.
            os.link(_path_of(self.descriptor), self._name, src_dir_fd=self.descriptor)
            self._is_named = True
        os.replace(self._name, target)
        self._is_named = False


def _open_nameless(folder: str) -> int:
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        raise OSError(errno.EOPNOTSUPP, "files without a name cannot be had, or not be named")
    return os.open(folder, os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, 0o666)


def _path_of(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _is_replaceable(old: os.stat_result | None) -> bool:
    return old is None or stat.S_ISREG(old.st_mode)


@contextlib.contextmanager
def _directly(path: str) -> Iterator[int]:
    descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _copy_owner(descriptor: int, old: os.stat_result) -> None:
    if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(PermissionError):  # then the new file belongs to who wrote it
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
