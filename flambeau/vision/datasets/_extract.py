"""Safe unpacking of archives: nothing outside of the folder, no links, all of it or nothing."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import shutil
import tarfile
import zipfile
from typing import IO, Any

from flambeau.hub._lock import held

__all__ = ["extract", "unfinished"]

_COMPRESSED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_MAGIC = {b"\x1f\x8b": ".gz", b"BZ": ".bz2", b"\xfd7": ".xz"}
_TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz")
_SCRATCH = ".extracting-"
_PIECE = 1 << 20
# An archive that unpacks to more than this is made to fill the disk: published ones of images
# shrink by a factor below ten, tables of numbers below fifty.
_RATIO = 100
_FLOOR = 1 << 30


# Errors that are not the archive's fault.
_OF_THE_DISK = {
    errno.EACCES,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EIO,
    errno.EMFILE,
    errno.ENOSPC,
    errno.EPERM,
    errno.EROFS,
}


def extract(archive: str, folder: str) -> str:
    """Unpack an archive into a folder, or one compressed file to its name without the suffix.

    RuntimeError if it is damaged, holds a path out of the folder or a link, or unpacks to more
    than 100 times its size and 1 GiB; the folder is then unchanged. One process at a time unpacks
    an archive, and removes what an earlier process left that was killed.
    """
    name = os.path.basename(archive)
    suffix = os.path.splitext(name)[1].lower()
    is_tar = name.lower().endswith(_TAR_SUFFIXES)
    if suffix != ".zip" and not is_tar and suffix not in _COMPRESSED:
        raise RuntimeError(
            f"Unknown compression or archive type of {archive}: known are .zip, .tar, "
            f"{', '.join(_COMPRESSED)} and combinations of these"
        )
    scratch = os.path.join(folder, f"{_SCRATCH}{name}")
    with held(scratch, folder=True):
        try:
            _clear(scratch)
            unpacking = _Unpacking(archive, scratch)
            if suffix == ".zip":
                unpacking.unzip()
            elif is_tar:
                unpacking.untar()
            else:
                unpacking.expand(_COMPRESSED[suffix], os.path.splitext(name)[0])
            _refuse_clashes(archive, scratch, folder)
            _move(scratch, folder)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return folder if is_tar or suffix == ".zip" else os.path.join(folder, os.path.splitext(name)[0])


def unfinished(folder: str) -> str | None:
    """Return what a process left in a folder if it was killed while unpacking there."""
    if not os.path.isdir(folder):
        return None
    found = [name for name in os.listdir(folder) if name.startswith(_SCRATCH)]
    return os.path.join(folder, found[0]) if found else None


class _Unpacking:
    """Unpacks an archive into an empty folder."""

    def __init__(self, archive: str, scratch: str) -> None:
        self.archive = archive
        self.scratch = scratch
        self.limit = max(_FLOOR, _RATIO * os.path.getsize(archive))
        self.written = 0

    def unzip(self) -> None:
        try:
            with zipfile.ZipFile(self.archive) as file:
                members = file.infolist()
                self._refuse_size(sum(member.file_size for member in members))
                self._refuse_full_disk(sum(member.file_size for member in members))
                for member in members:
                    self._unzip_member(file, member)
        except Exception as error:
            raise self._named(error) from error

    def _unzip_member(self, file: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
        is_link = (member.external_attr >> 16) & 0o170000 == 0o120000
        target = self._target(member.filename, is_link)
        if member.flag_bits & 1:
            raise _RefusedError(
                f"{self.archive}: refused, its member {member.filename!r} needs a password"
            )
        if member.is_dir():
            os.makedirs(target, exist_ok=True)
            return
        with file.open(member) as source:
            self._write(source, target)

    def untar(self) -> None:
        try:
            with open(self.archive, "rb") as packed:
                opener = _COMPRESSED.get(_MAGIC.get(packed.read(2), ""))
                packed.seek(0)
                stream = _Metered(opener(packed, "rb") if opener else packed, self)
                with tarfile.open(
                    fileobj=stream,  # type: ignore[call-overload]
                    mode="r|",
                    tarinfo=_Header,
                    bufsize=_PIECE,
                ) as file:
                    for member in file:
                        self._untar_member(file, member)
                while stream.read(_PIECE):  # the checksum of the whole comes last
                    pass
        except Exception as error:
            raise self._named(error) from error

    def _untar_member(self, file: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        target = self._target(member.name, not (member.isreg() or member.isdir()))
        if member.isdir():
            os.makedirs(target, exist_ok=True)
            return
        source = file.extractfile(member)
        assert source is not None, "links and devices have been refused"
        with source:
            self._write(source, target)

    def expand(self, opener: Any, name: str) -> None:
        try:
            with opener(self.archive, "rb") as source:
                self._write(source, os.path.join(self.scratch, name))
        except Exception as error:
            raise self._named(error) from error

    def _target(self, name: str, is_link: bool) -> str:
        """Return where a member of the archive goes, if it may be unpacked."""
        parts = name.replace("\\", "/").split("/")
        if name.startswith(("/", "\\")) or ".." in parts or os.path.splitdrive(name)[0]:
            raise _RefusedError(
                f"{self.archive}: refused, its member {name!r} lies outside of the folder"
            )
        if is_link:
            raise _RefusedError(
                f"{self.archive}: refused, its member {name!r} is a link or a device"
            )
        return os.path.join(self.scratch, *[part for part in parts if part not in ("", ".")])

    def _write(self, source: IO[bytes], target: str) -> None:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            while piece := source.read(_PIECE):
                self.written += len(piece)
                self._refuse_size(self.written)
                file.write(piece)

    def _refuse_size(self, size: int) -> None:
        if size > self.limit:
            raise _RefusedError(
                f"{self.archive}: refused, it unpacks to more than {self.limit} bytes (1 GiB, or "
                f"{_RATIO} times its size where that is more). Unpack it yourself if it should"
            )

    def _refuse_full_disk(self, size: int) -> None:
        free = shutil.disk_usage(self.scratch).free
        if size > free:
            raise _RefusedError(
                f"{self.archive}: {size} bytes are needed to unpack it, {free} are free in "
                f"{os.path.dirname(self.scratch)}"
            )

    def _named(self, error: Exception) -> Exception:
        """An error that says which archive, and whether it or the disk is at fault."""
        if isinstance(error, _RefusedError | FileNotFoundError):
            return error
        if isinstance(error, OSError) and error.errno in _OF_THE_DISK:
            into = os.path.dirname(self.scratch)
            return OSError(
                error.errno,
                f"{error.strerror} (unpacking {self.archive} into {into}; nothing was kept)",
                error.filename,
            )
        # The readers of damaged archives raise many kinds of errors.
        return RuntimeError(f"{self.archive}: damaged, or no such archive ({error})")


class _RefusedError(RuntimeError):
    """An archive that is intact but must not be unpacked."""


class _Metered:
    """A stream that counts its bytes: headers too can be made to fill the memory."""

    def __init__(self, source: IO[bytes], unpacking: _Unpacking) -> None:
        self._source = source
        self._unpacking = unpacking
        self._count = 0

    def read(self, size: int) -> bytes:
        data = self._source.read(size)
        self._count += len(data)
        # Headers and padding of small files may be twice their content.
        self._unpacking._refuse_size(self._count // 3)
        return data


class _Header(tarfile.TarInfo):
    """Read the header of a member; a damaged one is an error, not the end of the archive."""

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> tarfile.TarInfo:  # type: ignore[override]
        try:
            return super().fromtarfile(tarfile_)
        except (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError) as error:  # type: ignore[attr-defined]
            raise tarfile.ReadError(f"{error}") from error


def _clear(folder: str) -> None:
    for entry in list(os.scandir(folder)):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.remove(entry.path)


def _refuse_clashes(archive: str, source: str, target: str) -> None:
    """Check, before anything is moved, that no folder replaces a file and no file a folder."""
    for entry in list(os.scandir(source)):
        place = os.path.join(target, entry.name)
        if not os.path.lexists(place):
            continue
        if entry.is_dir() != os.path.isdir(place):
            kinds = ("folder", "file") if entry.is_dir() else ("file", "folder")
            raise RuntimeError(
                f"{archive}: its {kinds[0]} {entry.name!r} cannot be put at {place}, where there "
                f"is a {kinds[1]}: move that away"
            )
        if entry.is_dir():
            _refuse_clashes(archive, entry.path, place)


def _move(source: str, target: str) -> None:
    """Move the contents of one folder into another, over files of the same names."""
    for entry in list(os.scandir(source)):
        place = os.path.join(target, entry.name)
        if entry.is_dir() and os.path.isdir(place):
            _move(entry.path, place)
        else:
            os.replace(entry.path, place)
