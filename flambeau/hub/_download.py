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
    """Download a file; it appears when it is complete.

    Args:
        url: Address of the file.
        dst: Path to write to.
        hash_prefix: First digits of its SHA-256; with it, an interrupted download is continued.
            Default: None.
        progress: Whether to show the download. Default: True.

    Raises:
        RuntimeError: The SHA-256 differs; nothing is kept.

    Example:
        >>> from pathlib import Path
        >>> _ = Path("a.txt").write_text("hello")
        >>> url = Path("a.txt").resolve().as_uri()
        >>> torch.hub.download_url_to_file(url, "b.txt", progress=False)
        >>> Path("b.txt").read_text()
        'hello'
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
    """Load an object that is saved at a URL, downloading it unless it is there already.

    Args:
        url: Address of the file.
        model_dir: Directory for downloads. Default: `checkpoints` in the hub's directory.
        map_location: Where tensors go, as of `torch.load`. Default: where they were.
        progress: Whether to show the download. Default: True.
        check_hash: Whether the file's name must end in the first digits of its SHA-256.
            Default: False.
        file_name: Name of the file. Default: that of the URL.
        weights_only: Whether to make data only, as of `torch.load`. Default: True.

    Example:
        >>> from pathlib import Path
        >>> torch.save({"weight": torch.ones(1)}, "weights.pt")
        >>> url = Path("weights.pt").resolve().as_uri()
        >>> torch.hub.load_state_dict_from_url(url, model_dir="cache", progress=False)
        {'weight': tensor([1.])}
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
