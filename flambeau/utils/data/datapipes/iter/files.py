"""Pipes of file names, of open files and of their contents."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from flambeau.utils.data.datapipes.datapipe import IterDataPipe, functional_datapipe

__all__ = ["FileListerIterDataPipe", "FileOpenerIterDataPipe", "StreamReaderIterDataPipe"]


class _OfLength(IterDataPipe):
    """A pipe whose length is known only if it is given."""

    length: int

    def __len__(self) -> int:
        if self.length < 0:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length


def _refuse(error: OSError) -> None:
    raise error


@functional_datapipe("list_files")
class FileListerIterDataPipe(_OfLength):
    """The files in folders, in alphabetical order; of some names, and in folders below."""

    def __init__(
        self,
        root: str | Sequence[str] | IterDataPipe = ".",
        masks: str | list[str] = "",
        *,
        recursive: bool = False,
        abspath: bool = False,
        non_deterministic: bool = False,
        length: int = -1,
    ) -> None:
        self._fb_roots: Iterable[str] = [root] if isinstance(root, str) else root
        self.masks: list[str] = [masks] if isinstance(masks, str) else masks
        self.recursive = recursive
        self.abspath = abspath
        self.non_deterministic = non_deterministic
        self.length = length

    def _fb_is_meant(self, name: str) -> bool:
        masks = [mask for mask in self.masks if mask]
        return not masks or any(fnmatch.fnmatch(name, mask) for mask in masks)

    def __iter__(self) -> Iterator[str]:
        for root in self._fb_roots:
            top = os.path.abspath(root) if self.abspath else root
            for folder, folders, files in os.walk(top, onerror=_refuse):
                if not self.non_deterministic:
                    folders.sort()
                    files.sort()
                yield from (os.path.join(folder, name) for name in files if self._fb_is_meant(name))
                if not self.recursive:
                    break


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(_OfLength):
    """Pairs of the name of a file and the open file."""

    def __init__(
        self,
        datapipe: Iterable[str],
        mode: str = "r",
        encoding: str | None = None,
        length: int = -1,
    ) -> None:
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe = datapipe
        self.mode = mode if "r" in mode else f"r{mode}"
        self.encoding = encoding
        self.length = length

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for name in self.datapipe:
            if not isinstance(name, (str, os.PathLike)):
                raise TypeError(f"Expected string type for pathname, but got {type(name)}")
            yield name, open(name, self.mode, encoding=self.encoding)  # noqa: SIM115


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(IterDataPipe):
    """Pairs of the name of a file and what is in it, all at once or ``chunk`` bytes at a time."""

    def __init__(self, datapipe: IterDataPipe, chunk: int | None = None) -> None:
        self.datapipe = datapipe
        self.chunk = chunk

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for name, stream in self.datapipe:
            with stream:
                while piece := stream.read(self.chunk):
                    yield name, piece
                    if self.chunk is None:
                        break
