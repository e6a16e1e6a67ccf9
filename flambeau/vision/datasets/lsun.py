"""LSUN (https://www.yf.io/p/lsun): scenes, in databases read with the package lmdb."""

from __future__ import annotations

import importlib
import io
import os
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from flambeau.vision._pillow import pillow
from flambeau.vision.datasets._published import PathLike
from flambeau.vision.datasets.utils import iterable_to_str, verify_str_arg
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["LSUN", "LSUNClass"]

_CATEGORIES = [
    "bedroom",
    "bridge",
    "church_outdoor",
    "classroom",
    "conference_room",
    "dining_room",
    "kitchen",
    "living_room",
    "restaurant",
    "tower",
]
_PARTS = ("train", "val", "test")


class LSUNClass(VisionDataset):
    """The images of one database, without labels."""

    def __init__(
        self, root: PathLike, transform: Transform = None, target_transform: Transform = None
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        try:
            lmdb = importlib.import_module("lmdb")
        except ImportError as error:
            raise ImportError(
                f"lmdb is needed to read {os.fspath(root)}: pip install lmdb"
            ) from error
        path = os.fspath(self.root or "")
        if not os.path.exists(path):
            raise FileNotFoundError(f"{path}: no database of LSUN")
        self.env: Any = lmdb.open(
            path, max_readers=1, readonly=True, lock=False, readahead=False, meminit=False
        )
        with self.env.begin(write=False) as transaction:
            self.length: Any = transaction.stat()["entries"]
            self.keys: list[Any] = list(transaction.cursor().iternext(keys=True, values=False))

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        with self.env.begin(write=False) as transaction:
            data = transaction.get(self.keys[index])
        return self._fb_transformed(pillow().open(io.BytesIO(data)).convert("RGB"), self.root)

    def __len__(self) -> int:
        return int(self.length)


class LSUN(VisionDataset):
    """Images of the databases ``root/category_part_lmdb``.

    ``classes`` is train, val or test, or a list such as ``["bedroom_train", "tower_train"]``.
    """

    def __init__(
        self,
        root: PathLike,
        classes: str | Iterable[str] = "train",
        transform: Transform = None,
        target_transform: Transform = None,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.classes: list[str] = _names(classes)
        home = os.fspath(self.root or "")
        self.dbs: list[LSUNClass] = [
            LSUNClass(os.path.join(home, f"{each}_lmdb"), transform) for each in self.classes
        ]
        self.indices: list[int] = list(accumulate(map(len, self.dbs)))
        self.length: int = self.indices[-1] if self.indices else 0

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        target = bisect_right(self.indices, index)
        before = self.indices[target - 1] if target else 0
        image, _ = self.dbs[target][index - before]
        return image, target if self.target_transform is None else self.target_transform(target)

    def __len__(self) -> int:
        return self.length

    def extra_repr(self) -> str:
        return f"Classes: {self.classes}"


def _names(classes: str | Iterable[str]) -> list[str]:
    if isinstance(classes, str):
        verify_str_arg(classes, "classes", _PARTS)
        return ["test"] if classes == "test" else [f"{each}_{classes}" for each in _CATEGORIES]
    if not isinstance(classes, Iterable):
        raise ValueError(
            f"Expected type str or Iterable for argument classes, but got type {type(classes)}."
        )
    names = list(classes)
    for name in names:
        verify_str_arg(name, "classes")
        category, _, part = name.rpartition("_")
        _verify(category, "LSUN class", _CATEGORIES)
        _verify(part, "postfix", _PARTS)
    return names


def _verify(value: str, what: str, known: Iterable[str]) -> None:
    listed = iterable_to_str(known)
    verify_str_arg(
        value, what, known, f"Unknown value '{value}' for {what}. Valid values are {{{listed}}}."
    )
