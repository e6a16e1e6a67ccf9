"""Files from the network: checked, resumed after an interruption, whole or not there."""

from __future__ import annotations

import hashlib
import os
from http.client import HTTPException
from urllib.error import HTTPError

from flambeau.hub._download import open_url, receive
from flambeau.vision.datasets._lock import held

__all__ = ["fetch", "md5_of"]

_OUT_OF_RANGE = 416  # HTTP: there is nothing after so many bytes
_PARTIAL = 206  # HTTP: what follows is the part that was asked for


def md5_of(path: str | os.PathLike[str], piece: int = 1 << 20) -> str:
    """The MD5 sum of a file, which is what the published data sets are known by."""
    digest = hashlib.md5(usedforsecurity=False)
    with open(path, "rb") as file:
        while data := file.read(piece):
            digest.update(data)
    return digest.hexdigest()


def fetch(url: str, path: str, md5: str | None = None, progress: bool = True) -> None:
    """Fetch a file; it appears at `path` when it is complete and has the right sum.

    What arrived before the network failed is kept beside it, and the next attempt goes on there.
    Of several processes one fetches the file and the others wait for it.
    """
    part = f"{path}.part"
    try:
        with held(part) as waited:
            if waited and _is_whole(path, md5):
                os.remove(part)
                return
            _receive(url, path, part, md5, progress)
    except (OSError, ValueError, HTTPException) as error:
        kept = _size(part)
        begun = f" ({kept} bytes have arrived; the next attempt goes on from there)" if kept else ""
        raise RuntimeError(
            f"Error downloading {os.path.basename(path)} from {url}: {error}{begun}. Without a "
            f"network, put the file at {path} yourself"
        ) from error


def _receive(url: str, path: str, part: str, md5: str | None, progress: bool) -> None:
    try:
        # Without a sum nothing tells whether a beginning and an end are of the same file.
        start = _size(part) if md5 else 0
        _go_on(url, part, start, progress)
        found = md5 and md5_of(part)
        if found != md5 and start:
            # The beginning was of another version.
            _go_on(url, part, 0, progress)
            found = md5 and md5_of(part)
    except BaseException:
        if not (md5 and _size(part)):
            os.remove(part)
        raise
    if found != md5:
        os.remove(part)
        raise RuntimeError(
            f"File not found or corrupted: {os.path.basename(path)} from {url} has the MD5 sum "
            f"{found} instead of {md5}, and was not kept. With the right file at {path} nothing "
            "is fetched"
        )
    os.replace(part, path)


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
        with open(part, "ab" if resumed else "wb") as file:
            before = start if resumed else 0
            receive(response, file, progress, before=before)
            expected = response.headers.get("Content-Length")
            if expected and file.tell() < before + int(expected):
                raise OSError("the connection ended early")


def _is_whole(path: str, md5: str | None) -> bool:
    return os.path.isfile(path) and (md5 is None or md5_of(path) == md5)


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0
