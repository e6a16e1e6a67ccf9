"""Files from the network, kept in a folder so that they are fetched once."""

from __future__ import annotations

import io
import os
import re
import sys
import zipfile
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlparse

import flambeau as fb
from flambeau.hub._transfer import Checksum, ChecksumError, DownloadError, arrived, transfer
from flambeau.serialization import MAP_LOCATION

__all__: list[str] = []

# Names of files end in the first digits of their SHA-256: resnet18-f37072fd.pth.
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_chosen_dir: str | None = None


def get_dir() -> str:
    """Return the folder that files are kept in.

    It is what `set_dir` has set, or ``hub`` in ``$TORCH_HOME``, or ``~/.cache/torch/hub``: the one
    that PyTorch uses, so that nothing is fetched twice.
    """
    return os.path.join(_get_torch_home(), "hub") if _chosen_dir is None else _chosen_dir


def _get_torch_home() -> str:
    cache = os.environ.get("XDG_CACHE_HOME", os.path.join("~", ".cache"))
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder that files are kept in."""
    global _chosen_dir
    _chosen_dir = os.path.expanduser(d)


def download_url_to_file(
    url: str, dst: str, hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Fetch a file; it appears at ``dst`` when it is complete.

    RuntimeError if its SHA-256 does not begin with ``hash_prefix``, and nothing is kept. With a
    ``hash_prefix`` a transfer that was interrupted goes on where it ended.
    """
    checksum = Checksum("sha256", hash_prefix) if hash_prefix else None
    try:
        transfer(url, os.path.realpath(os.path.expanduser(dst)), checksum, progress)
    except ChecksumError as error:
        raise RuntimeError(
            f'invalid hash value (expected "{hash_prefix}", got "{error.found}"): {url} was '
            "changed or damaged on its way"
        ) from error


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: MAP_LOCATION = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> dict[str, Any]:
    """Load what is saved at an address, fetching it unless it is in the folder already.

    With ``check_hash`` the file's name must end in the first digits of its SHA-256. No code of the
    file is run unless ``weights_only=False``.
    """
    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(folder, exist_ok=True)
    name = file_name if file_name is not None else os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        print(f'Downloading: "{url}" to {path}', file=sys.stderr)
        found = HASH_REGEX.search(name) if check_hash else None
        try:
            download_url_to_file(url, path, found[1] if found else None, progress)
        except URLError as error:
            raise _explained(error, url, path) from error
    content: Any = _unpacked(path) or path
    state: dict[str, Any] = fb.load(content, map_location=map_location, weights_only=weights_only)
    return state


def _explained(error: URLError, url: str, path: str) -> URLError:
    """An error of the same class that says what to do instead."""
    place = os.path.realpath(path)
    advice = f"{arrived(place)}. Without a network connection, put the file at {place}"
    if isinstance(error, HTTPError):
        text = f"{error.msg}: {url} cannot be fetched{advice}"
        return HTTPError(url, error.code, text, error.hdrs, io.BytesIO())
    reason = error if isinstance(error, DownloadError) else error.reason
    return DownloadError(f"{url} cannot be fetched: {reason}{advice}")


def _unpacked(path: str) -> io.BytesIO | None:
    """The only file in an archive, which is how weights were once published."""
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        if len(entries) != 1 or entries[0].is_dir():
            return None
        return io.BytesIO(archive.read(entries[0]))
