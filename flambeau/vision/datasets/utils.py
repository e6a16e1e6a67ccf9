"""Downloading, checking and unpacking the files of data sets."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeVar
from urllib.parse import urlparse

from flambeau.vision.datasets._extract import extract
from flambeau.vision.datasets._fetch import fetch, md5_of

__all__ = [
    "calculate_md5",
    "check_integrity",
    "check_md5",
    "download_and_extract_archive",
    "download_file_from_google_drive",
    "download_url",
    "extract_archive",
    "iterable_to_str",
    "list_dir",
    "list_files",
    "verify_str_arg",
]

T = TypeVar("T")
_DRIVE = "https://drive.usercontent.google.com/download?id={}&export=download&confirm=t"
_Path = str | os.PathLike[str]


def calculate_md5(fpath: _Path, chunk_size: int = 1024 * 1024) -> str:
    """Return the MD5 sum of a file."""
    return md5_of(fpath, chunk_size)


def check_md5(fpath: _Path, md5: str, **kwargs: Any) -> bool:
    """Return whether a file has a given MD5 sum."""
    return calculate_md5(fpath, **kwargs) == md5


def check_integrity(fpath: _Path, md5: str | None = None) -> bool:
    """Return whether a file exists and, if an MD5 sum is given, has it."""
    return os.path.isfile(fpath) and (md5 is None or check_md5(fpath, md5))


def download_url(
    url: str,
    root: _Path,
    filename: _Path | None = None,
    md5: str | None = None,
    max_redirect_hops: int = 3,
) -> None:
    """Download a file into a folder unless it is there with the right sum."""
    folder = os.path.expanduser(root)
    path = os.path.join(folder, filename or os.path.basename(urlparse(url).path))
    if check_integrity(path, md5):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    fetch(url, path, md5)


def download_and_extract_archive(
    url: str,
    download_root: _Path,
    extract_root: _Path | None = None,
    filename: _Path | None = None,
    md5: str | None = None,
    remove_finished: bool = False,
) -> None:
    """Download an archive and unpack it, beside itself unless a folder is given."""
    folder = os.path.expanduser(download_root)
    name = os.fspath(filename or os.path.basename(urlparse(url).path))
    download_url(url, folder, name, md5)
    extract_archive(os.path.join(folder, name), extract_root or folder, remove_finished)


def extract_archive(
    from_path: _Path, to_path: _Path | None = None, remove_finished: bool = False
) -> str:
    """Unpack an archive or a compressed file; refuse links and paths out of the folder."""
    archive = os.fspath(from_path)
    result = extract(archive, os.fspath(to_path or os.path.dirname(archive) or "."))
    if remove_finished:
        os.remove(archive)
    return result


def download_file_from_google_drive(
    file_id: str, root: _Path, filename: _Path | None = None, md5: str | None = None
) -> None:
    """Download a file from Google Drive into a folder unless it is there with the right sum."""
    path = os.path.join(os.path.expanduser(root), filename or file_id)
    if check_integrity(path, md5):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        fetch(_DRIVE.format(file_id), path, md5)
        _refuse_page(path)
    except RuntimeError as error:
        raise RuntimeError(
            f"Google Drive may ask for a browser ({error}): open "
            f"https://drive.google.com/uc?id={file_id} and put the file at {path}"
            + (f" (MD5 {md5})" if md5 else "")
        ) from error


def _refuse_page(path: str) -> None:
    """Refuse the HTML page that is sent instead of a file that was downloaded too often."""
    with open(path, "rb") as file:
        is_page = file.read(64).lstrip().lower().startswith((b"<html", b"<!doctype html"))
    if is_page:
        os.remove(path)
        raise RuntimeError(f"{os.path.basename(path)} is a page")


def list_dir(root: _Path, prefix: bool = False) -> list[str]:
    """Return the subfolders of a folder, with its path before each if `prefix`."""
    return _listed(root, prefix, lambda entry: entry.is_dir())


def list_files(root: _Path, suffix: str, prefix: bool = False) -> list[str]:
    """Return the files in a folder whose names end in `suffix`."""
    return _listed(root, prefix, lambda entry: entry.is_file() and entry.name.endswith(suffix))


def _listed(root: _Path, prefix: bool, wanted: Any) -> list[str]:
    folder = os.path.expanduser(os.fspath(root))
    names = [entry.name for entry in os.scandir(folder) if wanted(entry)]
    return [os.path.join(folder, name) for name in names] if prefix else names


def iterable_to_str(iterable: Iterable[Any]) -> str:
    """Return values as an error message shows them."""
    return "'" + "', '".join(str(item) for item in iterable) + "'"


def verify_str_arg(
    value: T,
    arg: str | None = None,
    valid_values: Iterable[T] | None = None,
    custom_msg: str | None = None,
) -> T:
    """Return a text if it is one of the permitted ones; raise ValueError otherwise."""
    name = f"Expected type str for argument {arg}" if arg else "Expected type str"
    if not isinstance(value, str):
        raise ValueError(f"{name}, but got type {type(value)}.")
    if valid_values is not None and value not in (permitted := list(valid_values)):
        raise ValueError(
            custom_msg
            or f"Unknown value '{value}' for argument {arg}. Valid values are "
            f"{{{iterable_to_str(permitted)}}}."
        )
    return value
