"""``FileBaton``: one process works and the others wait, by a lock file."""

from __future__ import annotations

import contextlib
import os
import time
import warnings

__all__ = ["FileBaton"]


class FileBaton:
    """A lock that is held while a file exists."""

    def __init__(
        self,
        lock_file_path: str | os.PathLike[str],
        wait_seconds: float = 0.1,
        warn_after_seconds: float | None = None,
    ) -> None:
        self.lock_file_path = lock_file_path
        self.wait_seconds = wait_seconds
        self.warn_after_seconds = warn_after_seconds
        self.fd: int | None = None

    def try_acquire(self) -> bool:
        """Make the file; False if another process has made it."""
        try:
            self.fd = os.open(self.lock_file_path, os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            return False
        return True

    def wait(self) -> None:
        """Sleep until the file is gone, and say so if that takes ``warn_after_seconds``."""
        start = time.monotonic()
        warned = self.warn_after_seconds is None
        while os.path.exists(self.lock_file_path):
            time.sleep(self.wait_seconds)
            waited = time.monotonic() - start
            if not warned and waited > (self.warn_after_seconds or 0):
                warned = True
                warnings.warn(
                    f"FileBaton has waited {waited:.0f} s for {os.fspath(self.lock_file_path)!r}; "
                    "remove it if the process that made it has died",
                    stacklevel=2,
                )

    def release(self) -> None:
        """Remove the file."""
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.lock_file_path)
