"""Files of data sets from the network, verified by their MD5 sums."""

from __future__ import annotations

import os
from http.client import HTTPException

from flambeau.hub._transfer import Checksum, ChecksumError, arrived, checksum_of, transfer

__all__ = ["fetch", "md5_of"]


def md5_of(path: str | os.PathLike[str], piece: int = 1 << 20) -> str:
    """Return the MD5 sum of a file, by which the published data sets are identified."""
    return checksum_of(path, "md5", piece)


def fetch(url: str, path: str, md5: str | None = None, progress: bool = True) -> None:
    """Download a file; it appears at `path` once it is complete and its sum is right.

    An interrupted download is kept beside it, and the next attempt resumes there.
    Of several processes one downloads the file and the others wait for it.
    """
    name = os.path.basename(path)
    try:
        transfer(url, path, Checksum("md5", md5) if md5 else None, progress)
    except ChecksumError as error:
        raise RuntimeError(
            f"File not found or corrupted: {name} from {url} has the MD5 sum {error.found} instead "
            f"of {md5}, and was not kept. Put the right file at {path} yourself"
        ) from error
    except (OSError, ValueError, HTTPException) as error:
        raise RuntimeError(
            f"Error downloading {name} from {url}: {error}{arrived(path)}. Without a network "
            f"connection, put the file at {path} yourself"
        ) from error
