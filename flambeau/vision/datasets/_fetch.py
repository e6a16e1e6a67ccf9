"""Files from the network: checked, resumed after an interruption, whole or not there."""

from __future__ import annotations

import hashlib
import os
from http.client import HTTPException
from urllib.error import HTTPError

from flambeau.hub._download import open_url, receive

__all__ = ["fetch", "md5_of"]

_OUT_OF_RANGE = 416  # HTTP: there is nothing after so many bytes


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
    """
    part = f"{path}.part"
    try:
        _go_on(url, part, progress)
    except (OSError, ValueError, HTTPException) as error:
        kept = _size(part)
        if not kept and os.path.exists(part):
            os.remove(part)
        begun = f" ({kept} bytes have arrived; the next attempt goes on from there)" if kept else ""
        raise RuntimeError(
            f"Error downloading {os.path.basename(path)} from {url}: {error}{begun}. Without a "
            f"network, put the file at {path} yourself"
        ) from error
    if md5 is not None and (found := md5_of(part)) != md5:
        os.remove(part)
        raise RuntimeError(
            f"File not found or corrupted: {url} has the MD5 sum {found} instead of {md5}; "
            "nothing was kept"
        )
    os.replace(part, path)


def _go_on(url: str, part: str, progress: bool) -> None:
    start = _size(part)
    try:
        response = open_url(url, start)
    except HTTPError as error:
        if error.code != _OUT_OF_RANGE:
            raise
        # All of it has arrived already; or it is another file now, which its sum will tell.
        return
    with response:
        # A server that cannot start in the middle sends everything.
        resumed = start > 0 and getattr(response, "status", None) == 206
        with open(part, "ab" if resumed else "wb") as file:
            before = start if resumed else 0
            receive(response, file, progress, before=before)
            expected = response.headers.get("Content-Length")
            if expected and file.tell() < before + int(expected):
                raise OSError("the connection ended early")


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0
