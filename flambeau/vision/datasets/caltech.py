"""Caltech 101 and 256 (https://data.caltech.edu/records/20086 and 20087)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from flambeau.vision.datasets._matlab import read_matlab
from flambeau.vision.datasets._published import (
    PathLike,
    Resource,
    bring,
    prepare,
    target_types,
    targets_of,
)
from flambeau.vision.datasets.folder import open_image
from flambeau.vision.datasets.utils import extract_archive
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["Caltech101", "Caltech256"]


class _Caltech(VisionDataset):
    """Images numbered from 1, in one folder per category."""

    root: str
    index: list[int]
    y: list[int]

    def _fb_count(self, folder: str, categories: list[str]) -> None:
        self.categories = categories
        self.index, self.y = [], []
        for number, name in enumerate(categories):
            files = os.listdir(os.path.join(folder, name))
            count = sum(file.endswith(".jpg") for file in files)
            self.index += range(1, count + 1)
            self.y += [number] * count

    def __len__(self) -> int:
        return len(self.index)


class Caltech101(_Caltech):
    """Photographs of 101 categories, in ``root/caltech101``.

    ``target_type`` is category, annotation (the points of an outline, which SciPy reads) or both.
    """

    # The categories whose outlines are in a folder of another name.
    _fb_OUTLINES = {
        "Faces": "Faces_2",
        "Faces_easy": "Faces_3",
        "Motorbikes": "Motorbikes_16",
        "airplanes": "Airplanes_Side_2",
    }
    _fb_ARCHIVE = Resource(
        "https://data.caltech.edu/records/mzrjq-6wc02/files/caltech-101.zip",
        "3138e1922a9193bfa496528edbbc45d0",
    )

    def __init__(
        self,
        root: PathLike,
        target_type: str | Sequence[str] = "category",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        folder = os.path.join(os.path.expanduser(os.fspath(root)), "caltech101")
        super().__init__(folder, transform=transform, target_transform=target_transform)
        self.target_type: list[str] = target_types(
            target_type, "target_type", ("category", "annotation")
        )
        if download:
            self.download()
        prepare(folder, ["101_ObjectCategories"], [self._fb_ARCHIVE])
        names = sorted(os.listdir(os.path.join(folder, "101_ObjectCategories")))
        self._fb_count(
            os.path.join(folder, "101_ObjectCategories"),
            [name for name in names if name != "BACKGROUND_Google"],
        )
        self.annotation_categories: list[str] = [
            self._fb_OUTLINES.get(name, name) for name in self.categories
        ]

    def download(self) -> None:
        """Download the archive and unpack it and those in it, unless that was done."""
        if os.path.isdir(os.path.join(self.root, "101_ObjectCategories")):
            return
        bring(self._fb_ARCHIVE, self.root)
        inner = os.path.join(self.root, "caltech-101")
        # The images come last: with them the data set is complete.
        for name in sorted(os.listdir(inner), reverse=True):
            if name.endswith((".gz", ".tar")):
                extract_archive(os.path.join(inner, name), self.root)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        name = self.categories[self.y[index]]
        image = f"image_{self.index[index]:04d}.jpg"
        target = targets_of(self.target_type, lambda kind: self._fb_target(kind, index))
        path = os.path.join(self.root, "101_ObjectCategories", name, image)
        return self._fb_transformed(open_image(path), target)

    def _fb_target(self, kind: str, index: int) -> Any:
        if kind == "category":
            return self.y[index]
        name = self.annotation_categories[self.y[index]]
        file = f"annotation_{self.index[index]:04d}.mat"
        return read_matlab(os.path.join(self.root, "Annotations", name, file), "obj_contour")[0]

    def extra_repr(self) -> str:
        return f"Target type: {self.target_type}"


class Caltech256(_Caltech):
    """Photographs of 257 categories, in ``root/caltech256``."""

    _fb_ARCHIVE = Resource(
        "https://data.caltech.edu/records/nyy15-4j048/files/256_ObjectCategories.tar",
        "67b4f42ca05d46448c6bb8ecd2220f6d",
    )

    def __init__(
        self,
        root: PathLike,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        folder = os.path.join(os.path.expanduser(os.fspath(root)), "caltech256")
        super().__init__(folder, transform=transform, target_transform=target_transform)
        prepare(folder, ["256_ObjectCategories"], [self._fb_ARCHIVE], download)
        images = os.path.join(folder, "256_ObjectCategories")
        self._fb_count(images, sorted(os.listdir(images)))

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        label = self.y[index]
        file = f"{label + 1:03d}_{self.index[index]:04d}.jpg"
        path = os.path.join(self.root, "256_ObjectCategories", self.categories[label], file)
        return self._fb_transformed(open_image(path), label)
