"""Common parts of published data sets: downloads, lookups, images with one target each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlparse

from flambeau.vision.datasets import utils
from flambeau.vision.datasets._extract import unfinished
from flambeau.vision.datasets.folder import default_loader
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = [
    "ImageList",
    "Loader",
    "PathLike",
    "Resource",
    "SplitImages",
    "bring",
    "numbered",
    "prepare",
    "read_json",
    "read_lines",
    "reading",
    "target_types",
    "targets_of",
]

_DRIVE = "https://drive.google.com/uc?id="
Loader = Callable[[str], Any]
PathLike = str | os.PathLike[str]


class Resource(NamedTuple):
    """A published file.

    It is kept as `name`, by default that of its address, and an archive is unpacked
    into the folder `into`; both are below the folder of the data set.
    """

    url: str
    md5: str | None = None
    name: str = ""
    into: str = ""
    packed: bool = True

    @staticmethod
    def drive(number: str, md5: str | None, name: str, into: str = "") -> Resource:
        """A file on Google Drive."""
        return Resource(f"{_DRIVE}{number}", md5, name, into, name.endswith((".zip", ".gz")))


def bring(resource: Resource, folder: str) -> None:
    """Download a file into a folder unless it is there, and unpack it if it is an archive."""
    name = resource.name or os.path.basename(urlparse(resource.url).path)
    if resource.url.startswith(_DRIVE):
        number = resource.url.removeprefix(_DRIVE)
        utils.download_file_from_google_drive(number, folder, name, resource.md5)
    else:
        utils.download_url(resource.url, folder, name, resource.md5)
    if resource.packed:
        utils.extract_archive(os.path.join(folder, name), os.path.join(folder, resource.into))


def prepare(
    folder: str,
    needed: Iterable[str | tuple[str, str | None]],
    resources: Sequence[Resource] = (),
    download: bool = False,
) -> None:
    """Check that files and folders are there, and the files' sums where given.

    Missing ones are downloaded if `download`; otherwise a RuntimeError names them.
    """
    wanted = [(each, None) if isinstance(each, str) else each for each in needed]
    if download and _problems(folder, wanted):
        for resource in resources:
            bring(resource, folder)
    if problems := _problems(folder, wanted):
        sources = ", ".join(resource.url for resource in resources)
        remedy = f" You can use download=True to download it, or get {sources}." if sources else ""
        raise RuntimeError(f"Dataset not found or corrupted: {'; '.join(problems)}.{remedy}")


def _problems(folder: str, needed: Iterable[tuple[str, str | None]]) -> list[str]:
    if left := unfinished(folder):
        return [f"{left} is of an unpacking that was interrupted"]
    problems = []
    for name, md5 in needed:
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            problems.append(f"{path} is missing")
        elif md5 is not None and not utils.check_integrity(path, md5):
            problems.append(f"{path} is damaged: its MD5 sum should be {md5}")
    return problems


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn errors into a RuntimeError that names the file whose content is wrong."""
    try:
        yield
    except (IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        what = f"{type(error).__name__}: {error}"
        raise RuntimeError(f"{path}: damaged, or not a file of this dataset ({what})") from error


def read_json(path: str) -> Any:
    """Return the content of a JSON file."""
    with open(path, encoding="utf-8") as file, reading(path):
        return json.load(file)


def read_lines(path: str) -> list[str]:
    """Return the lines of a text file, stripped, without empty ones."""
    with open(path, encoding="utf-8") as file, reading(path):
        return [line.strip() for line in file if line.strip()]


def numbered(names: Iterable[Any]) -> dict[Any, int]:
    """Map each name to its index."""
    return {name: number for number, name in enumerate(names)}


def targets_of(types: Iterable[str], values: Callable[[str], Any]) -> Any:
    """Return the target of one type, a tuple for several types, or None without types."""
    found = tuple(values(each) for each in types)
    return found[0] if len(found) == 1 else found or None


def target_types(given: str | Sequence[str], argument: str, known: Iterable[str]) -> list[str]:
    """Return the types that an argument names, one or several."""
    types = [given] if isinstance(given, str) else list(given)
    known = tuple(known)
    return [utils.verify_str_arg(each, argument, known) for each in types]


class ImageList(VisionDataset):
    """Images in files, each with a target that is known from the start."""

    classes: list[Any]
    class_to_idx: dict[Any, int]
    _image_files: list[str]
    _labels: list[Any]

    def __init__(
        self,
        root: PathLike,
        transform: Transform = None,
        target_transform: Transform = None,
        loader: Loader = default_loader,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.loader = loader
        self._image_files, self._labels = [], []

    def _fb_below(self, *parts: str) -> str:
        """Return a path below the root."""
        return os.path.join(os.fspath(self.root or ""), *parts)

    def _fb_take(self, samples: Iterable[tuple[str, Any]]) -> None:
        for path, label in samples:
            self._image_files.append(path)
            self._labels.append(label)

    def _fb_name_classes(self, names: list[Any]) -> None:
        self.classes = names
        self.class_to_idx = numbered(names)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self._fb_transformed(self.loader(self._image_files[index]), self._labels[index])

    def __len__(self) -> int:
        return len(self._image_files)


class SplitImages(ImageList):
    """Images in several splits, of which one is chosen."""

    _fb_SPLITS: tuple[str, ...] = ("train", "test")

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Loader = default_loader,
    ) -> None:
        super().__init__(root, transform, target_transform, loader)
        self._split: str = utils.verify_str_arg(split, "split", self._fb_SPLITS)
        self._fb_load(download)

    def _fb_load(self, download: bool) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return f"split={self._split}"
