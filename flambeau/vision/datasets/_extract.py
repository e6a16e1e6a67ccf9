"""Archives unpacked safely: nothing outside of the folder, no links, all of it or nothing."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any

__all__ = ["extract"]

_COMPRESSED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz")
_DAMAGES = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError)


def extract(archive: str, folder: str) -> str:
    """Unpack an archive into a folder, or one compressed file to its name without the suffix.

    RuntimeError if it is damaged or holds a path out of the folder or a link; the folder is then
    as it was.
    """
    name = os.path.basename(archive).lower()
    suffix = os.path.splitext(name)[1]
    if suffix != ".zip" and not name.endswith(_TAR_SUFFIXES) and suffix not in _COMPRESSED:
        raise RuntimeError(
            f"Unknown compression or archive type of {archive}: known are .zip, .tar, "
            f"{', '.join(_COMPRESSED)} and combinations of these"
        )
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".extracting-", dir=folder) as scratch:
        try:
            if suffix == ".zip":
                _unzip(archive, scratch)
            elif name.endswith(_TAR_SUFFIXES):
                _untar(archive, scratch)
            else:
                plain = os.path.splitext(os.path.basename(archive))[0]
                with _COMPRESSED[suffix](archive, "rb") as source:
                    _copy(source, os.path.join(scratch, plain))
        except FileNotFoundError:
            raise
        except _DAMAGES as error:
            raise RuntimeError(f"{archive}: damaged, or no such archive ({error})") from error
        _move(scratch, folder)
    if suffix == ".zip" or name.endswith(_TAR_SUFFIXES):
        return folder
    return os.path.join(folder, os.path.splitext(os.path.basename(archive))[0])


def _unzip(archive: str, scratch: str) -> None:
    with zipfile.ZipFile(archive) as file:
        for member in file.infolist():
            is_link = (member.external_attr >> 16) & 0o170000 == 0o120000
            target = _target(archive, scratch, member.filename, is_link)
            if member.is_dir():
                os.makedirs(target, exist_ok=True)
                continue
            with file.open(member) as source:
                _copy(source, target)


def _untar(archive: str, scratch: str) -> None:
    with tarfile.open(archive) as file:
        for member in file:
            plain = member.isreg() or member.isdir()
            target = _target(archive, scratch, member.name, not plain)
            if member.isdir():
                os.makedirs(target, exist_ok=True)
                continue
            with _opened(file, member) as source:
                _copy(source, target)


@contextlib.contextmanager
def _opened(file: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[IO[bytes]]:
    source = file.extractfile(member)
    assert source is not None, "links and devices have been refused"
    with source:
        yield source


def _target(archive: str, scratch: str, name: str, is_link: bool) -> str:
    """Where a member of an archive goes, if it may."""
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or os.path.splitdrive(name)[0]:
        raise RuntimeError(f"{archive}: refused, its member {name!r} lies outside of the folder")
    if is_link:
        raise RuntimeError(f"{archive}: refused, its member {name!r} is a link or a device")
    return os.path.join(scratch, *[part for part in parts if part not in ("", ".")])


def _copy(source: IO[bytes], target: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)


def _move(source: str, target: str) -> None:
    """Put what one folder holds into another, over files of the same names."""
    for entry in os.scandir(source):
        place = os.path.join(target, entry.name)
        if entry.is_dir() and os.path.isdir(place):
            _move(entry.path, place)
        else:
            os.replace(entry.path, place)
