"""Labeled Faces in the Wild (http://vis-www.cs.umass.edu/lfw/): people and pairs."""

from __future__ import annotations

import os
from typing import Any

from flambeau.vision.datasets._published import (
    Loader,
    PathLike,
    numbered,
    prepare,
    read_lines,
    reading,
)
from flambeau.vision.datasets.folder import default_loader
from flambeau.vision.datasets.utils import verify_str_arg
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["LFWPairs", "LFWPeople"]


class _LFW(VisionDataset):
    """Faces in one folder per person, with lists of the ones to use."""

    filename: str
    md5: str
    base_folder = "lfw-py"
    # Of each kind of images: the folder, the archive and its MD5 sum.
    file_dict: dict[str, tuple[str, str, str]] = {
        "original": ("lfw", "lfw.tgz", "a17d05bd522c52d84eca14327a23d494"),
        "funneled": ("lfw_funneled", "lfw-funneled.tgz", "1b42dfed7d15c9b2dd63d5e5840c86ad"),
        "deepfunneled": (
            "lfw-deepfunneled",
            "lfw-deepfunneled.tgz",
            "68331da3eb755a505a502b5aacb3c201",
        ),
    }
    _fb_SUMS = {
        "pairs.txt": "9f1ba174e4e1c508ff7cdf10ac338a7d",
        "pairsDevTest.txt": "5132f7440eb68cf58910c8a45a2ac10b",
        "pairsDevTrain.txt": "4f27cbf15b2da4a85c1907eb4181ad21",
        "people.txt": "450f0863dd89e85e73936a6d71a3474b",
        "peopleDevTest.txt": "e4bf5be0a43b5dcd9dc5ccfcb8fb19c5",
        "peopleDevTrain.txt": "54eaac34beb6d042ed3a7d883e247a21",
        "lfw-names.txt": "a6d0a479bd074669f656265a6e693f6d",
    }
    annot_file: dict[str, str] = {"10fold": "", "train": "DevTrain", "test": "DevTest"}
    names = "lfw-names.txt"
    _fb_view = ""

    def __init__(
        self,
        root: PathLike,
        split: str = "10fold",
        image_set: str = "funneled",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Loader = default_loader,
    ) -> None:
        folder = os.path.join(os.path.expanduser(os.fspath(root)), self.base_folder)
        super().__init__(folder, transform=transform, target_transform=target_transform)
        self.loader = loader
        self.image_set: str = verify_str_arg(image_set.lower(), "image_set", self.file_dict)
        self.split: str = verify_str_arg(split.lower(), "split", self.annot_file)
        if download:
            raise ValueError(
                f"LFW cannot be downloaded any more: put the files into {folder} yourself (a "
                "mirror is https://www.kaggle.com/datasets/jessicali9530/lfw-dataset)"
            )
        images, self.filename, self.md5 = self.file_dict[self.image_set]
        self.images_dir: str = os.path.join(folder, images)
        self.labels_file: str = f"{self._fb_view}{self.annot_file[self.split]}.txt"
        lists = [self.labels_file, *([self.names] if self._fb_view == "people" else [])]
        needed = [(name, self._fb_SUMS[name]) for name in lists]
        prepare(folder, [images, *needed])
        self.data: list[Any] = []
        with reading(os.path.join(folder, self.labels_file)):
            self._fb_load()

    def _fb_load(self) -> None:
        raise NotImplementedError

    def _fb_lines(self, name: str) -> list[list[str]]:
        return [line.split("\t") for line in read_lines(os.path.join(f"{self.root}", name))]

    def _get_path(self, identity: str, no: int | str) -> str:
        return os.path.join(self.images_dir, identity, f"{identity}_{int(no):04d}.jpg")

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        return f"Alignment: {self.image_set}\nSplit: {self.split}"


class LFWPeople(_LFW):
    """13 233 faces labelled with the person, in ``root/lfw-py``.

    ``split`` is 10fold, train or test; ``image_set`` is original, funneled or deepfunneled.
    """

    _fb_view = "people"

    def _fb_load(self) -> None:
        self.class_to_idx: dict[Any, int] = numbered(
            line[0].split()[0] for line in self._fb_lines(self.names)
        )
        rows = self._fb_lines(self.labels_file)
        # One line says how many people follow; each of the ten folds has such a line.
        people = [row for row in rows[1:] if len(row) == 2]
        self.data: list[Any] = [
            self._get_path(who, no) for who, last in people for no in _upto(last)
        ]
        self.targets: list[int] = [
            self.class_to_idx[who] for who, last in people for _ in _upto(last)
        ]

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self._fb_transformed(self.loader(self.data[index]), self.targets[index])

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}\nClasses (identities): {len(self.class_to_idx)}"


def _upto(last: str) -> range:
    return range(1, int(last) + 1)


class LFWPairs(_LFW):
    """Pairs of faces and whether they show the same person, in ``root/lfw-py``.

    ``split`` is 10fold, train or test; ``image_set`` is original, funneled or deepfunneled. A
    sample is two images and 1 or 0.
    """

    _fb_view = "pairs"

    def _fb_load(self) -> None:
        self.pair_names: list[tuple[str, str]] = []
        self.targets: list[int] = []
        for row in self._fb_lines(self.labels_file):
            if len(row) == 3:  # one person and two numbers
                self._fb_add(row[0], row[1], row[0], row[2])
            elif len(row) == 4:  # two people, each with a number
                self._fb_add(*row)

    def _fb_add(self, who: str, no: str, other: str, its_no: str) -> None:
        self.pair_names.append((who, other))
        self.data.append((self._get_path(who, no), self._get_path(other, its_no)))
        self.targets.append(int(who == other))

    def __getitem__(self, index: int) -> tuple[Any, Any, Any]:
        first, second = (self.loader(path) for path in self.data[index])
        target = self.targets[index]
        if self.transform is not None:
            first, second = self.transform(first), self.transform(second)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return first, second, target
