"""Files from the network, kept in a folder so that they are fetched once."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from typing import IO, Any
from urllib.parse import urlparse
from urllib.request import Request, urlopen

import flambeau as fb
from flambeau.serialization import MAP_LOCATION
from flambeau.serialization._atomic import replacing

__all__: list[str] = []

# Names of files end in the first digits of their SHA-256: resnet18-f37072fd.pth.
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_PIECE = 1 << 17
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

    RuntimeError if its SHA-256 does not begin with ``hash_prefix``, and nothing is kept.
    """
    digest = hashlib.sha256()
    with open_url(url) as response, replacing(os.path.expanduser(dst)) as descriptor:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            receive(response, file, progress, digest)
        if hash_prefix and not digest.hexdigest().startswith(hash_prefix):
            raise RuntimeError(
                f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}"): '
                f"{url} was changed or damaged on its way"
            )


def open_url(url: str, start: int = 0) -> Any:
    """Open an address, where the server can do so at the byte after the first `start` ones."""
    headers = {"User-Agent": "torch.hub"}
    if start:
        headers["Range"] = f"bytes={start}-"
    return urlopen(Request(url, headers=headers))


def receive(
    response: Any, file: IO[bytes], progress: bool, digest: Any = None, before: int = 0
) -> None:
    """Write what arrives to a file, with a bar; so many bytes had come before."""
    size = int(response.headers.get("Content-Length") or 0)
    total = before + size if size else None
    with fb.progress(total=total, unit="B", show=None if progress else False) as bar:
        bar.update(before)
        while piece := response.read(_PIECE):
            file.write(piece)
            bar.update(len(piece))
            if digest is not None:
                digest.update(piece)


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
        download_url_to_file(url, path, found[1] if found else None, progress)
    state: dict[str, Any] = fb.load(path, map_location=map_location, weights_only=weights_only)
    return state
