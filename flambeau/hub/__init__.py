"""Weights from the network, and models whose code lies in a repository."""

from __future__ import annotations

from urllib.parse import urlparse

from flambeau.hub._download import (
    HASH_REGEX,
    _get_torch_home,
    download_url_to_file,
    get_dir,
    load_state_dict_from_url,
    set_dir,
)
from flambeau.hub._repository import help, list, load

__all__ = [
    "HASH_REGEX",
    "_get_torch_home",
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "set_dir",
    "urlparse",
]
