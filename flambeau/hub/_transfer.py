"""Files from the network: checked, resumed after an interruption, whole or not there."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError, URLError

import flambeau as fb
from flambeau.hub._lock import held

__all__ = ["Checksum", "ChecksumError", "DownloadError", "arrived", "open_url", "transfer"]

_OUT_OF_RANGE = 416  # HTTP: there is nothing after so many bytes
_PARTIAL = 206  # HTTP: what follows is the part that was asked for
_PIECE = 1 << 17
_SUFFIX = ".part"  # of a file that is not complete
_PATIENCE = 60.0  # seconds without a byte


class DownloadError(URLError):
    """A file cannot be fetched; the text says why."""

    def __str__(self) -> str:
        return str(self.reason)


class ChecksumError(RuntimeError):
    """A file has another checksum than it must have."""

    def __init__(self, found: str) -> None:
        super().__init__(f"the checksum is {found}")
        self.found = found


@dataclass(frozen=True)
class Checksum:
    """How a file is known: the name of an algorithm, and with what digits its result begins."""

    algorithm: str
    digits: str

    def check(self, path: str) -> None:
        """ChecksumError if a file has another one."""
        if not (found := checksum_of(path, self.algorithm)).startswith(self.digits):
            raise ChecksumError(found)


def checksum_of(path: str | os.PathLike[str], algorithm: str, piece: int = 1 << 20) -> str:
    """The checksum of a file in hexadecimal digits."""
    digest = hashlib.new(algorithm, usedforsecurity=False)
    with open(path, "rb") as file:
        while data := file.read(piece):
            digest.update(data)
    return digest.hexdigest()


def transfer(url: str, path: str, checksum: Checksum | None, progress: bool) -> None:
    """Fetch a file; it appears at `path` when it is complete and has the right sum.

    What arrived before the network failed is kept beside it, and the next attempt goes on there.
    Of several processes one fetches the file and the others wait for it.
    """
    part = _part(path)
    with held(part) as waited:
        if waited and _is_right(path, checksum):
            os.remove(part)
            return
        try:
            _receive(url, part, checksum, progress)
        except BaseException as error:
            # Without a sum nothing tells whether a beginning and an end are of the same file.
            is_useful = checksum and _size(part) and not isinstance(error, ChecksumError)
            if not is_useful:
                os.remove(part)
            raise
        os.replace(part, path)


def arrived(path: str) -> str:
    """A remark on what is kept of a file whose transfer was interrupted."""
    kept = _size(_part(path))
    return f" ({kept} bytes have arrived; the next attempt goes on from there)" if kept else ""


def open_url(url: str, start: int = 0) -> Any:
    """Open an address, where the server can do so at the byte after the first `start` ones."""
    # Not above, nor its errors: it would be a sixth of the time to import networks, which rarely
    # fetch anything.
    from urllib.request import Request, urlopen

    headers = {"User-Agent": "torch.hub"}
    if start:
        headers["Range"] = f"bytes={start}-"
    return urlopen(Request(url, headers=headers), timeout=_PATIENCE)


def _receive(url: str, part: str, checksum: Checksum | None, progress: bool) -> None:
    start = _size(part) if checksum else 0
    _go_on(url, part, start, progress)
    if checksum is None:
        return
    try:
        checksum.check(part)
    except ChecksumError:
        if not start:
            raise
        # The beginning was of another version.
        _go_on(url, part, 0, progress)
        checksum.check(part)


def _go_on(url: str, part: str, start: int, progress: bool) -> None:
    """Fetch what comes after the first `start` bytes."""
    try:
        response = open_url(url, start)
    except HTTPError as error:
        error.close()
        if not start or error.code != _OUT_OF_RANGE:
            raise
        # All of it has arrived already; or it is another file now, which its sum will tell.
        return
    with response:
        # A server that cannot start in the middle sends everything.
        resumed = start > 0 and getattr(response, "status", None) == _PARTIAL
        part_sent = response.headers.get("Content-Range")
        if resumed and part_sent and not part_sent.startswith(f"bytes {start}-"):
            # Another part than the one it was asked for.
            _go_on(url, part, 0, progress)
            return
        _write(response, part, start if resumed else 0, progress)


def _write(response: Any, part: str, before: int, progress: bool) -> None:
    """Append what arrives to the bytes that had come before, with a bar."""
    size = int(response.headers.get("Content-Length") or 0)
    total = before + size if size else None
    name = os.path.basename(part).removesuffix(_SUFFIX)
    with (
        open(part, "ab" if before else "wb") as file,
        fb.progress(None, name, total=total, unit="B", show=None if progress else False) as bar,
    ):
        bar.update(before)
        while piece := _next(response):
            file.write(piece)
            bar.update(len(piece))
        if total and bar.count < total:
            raise DownloadError("the connection ended early")
        file.flush()
        os.fsync(file.fileno())  # or a crash of the system could leave the name of an empty file


def _next(response: Any) -> bytes:
    from http.client import HTTPException

    try:
        piece: bytes = response.read(_PIECE)
    except (ConnectionError, TimeoutError, HTTPException) as error:
        raise DownloadError(f"the connection ended early: {error}") from error
    return piece


def _is_right(path: str, checksum: Checksum | None) -> bool:
    if not os.path.isfile(path):
        return False
    try:
        if checksum:
            checksum.check(path)
    except ChecksumError:
        return False
    return True


def _part(path: str) -> str:
    return path + _SUFFIX


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0
