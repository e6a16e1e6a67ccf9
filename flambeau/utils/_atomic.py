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
    """Give the descriptor of a new file, which replaces ``path`` at the end.

    Until then, and if anything goes wrong, an older file at ``path`` stays unchanged. A link is
    followed, and the permissions of the older file are kept. Special files (a pipe, a
    terminal) and files in a folder without write permission are written directly.
    """
    target = os.path.realpath(path)
    old = _status(target)
    if old is not None and stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(errno.EISDIR, "Is a directory", path)
    yield from _new_file(target, old) if _is_replaceable(old) else _directly(target)


def _new_file(target: str, old: os.stat_result | None) -> Iterator[int]:
    """A file without a name where the system allows it: if the program is killed it is gone.

    An interrupt may come after any call. Whatever was done by then, the file of the temporary name
    is removed if it exists, without relying on notes that an interrupt could prevent.
    """
    folder = os.path.dirname(target)
    # Short, because the final name may already be as long as the file system allows.
    name = os.path.join(folder, f".{secrets.token_hex(8)}.tmp")
    descriptor, is_named = -1, False
    try:
        try:
            descriptor = _open_nameless(folder)
        except OSError:
            is_named = True
        try:
            if is_named:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                descriptor = os.open(name, flags, 0o666)
        except PermissionError:
            if old is None:
                raise
        if descriptor < 0:
            yield from _directly(target)
            return
        yield descriptor
        if old is not None:
            _copy_owner(descriptor, old)
        os.fsync(descriptor)  # or a crash of the system could leave the name of an empty file
        if not is_named:
            # With a folder to start from, which an absolute path ignores, the link is followed.
            os.link(f"/proc/self/fd/{descriptor}", name, src_dir_fd=descriptor)
        os.replace(name, target)
    finally:
        # Calls of the system alone: a function of Python could be interrupted before it begins.
        try:
            os.unlink(name)
        except (FileNotFoundError, PermissionError):
            pass
        finally:
            if descriptor >= 0:
                os.close(descriptor)


def _open_nameless(folder: str) -> int:
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        raise OSError(errno.EOPNOTSUPP, "unnamed files are not supported here, or cannot be linked")
    return os.open(folder, os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, 0o666)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _is_replaceable(old: os.stat_result | None) -> bool:
    return old is None or stat.S_ISREG(old.st_mode)


def _directly(path: str) -> Iterator[int]:
    descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _copy_owner(descriptor: int, old: os.stat_result) -> None:
    if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(PermissionError):  # then the new file belongs to its writer
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
