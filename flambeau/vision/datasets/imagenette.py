"""Imagenette (https://github.com/fastai/imagenette): ten classes of ImageNet."""

from __future__ import annotations

from typing import Any

from flambeau.vision.datasets._published import (
    ImageList,
    Loader,
    PathLike,
    Resource,
    numbered,
    prepare,
)
from flambeau.vision.datasets.folder import default_loader, find_classes, make_dataset
from flambeau.vision.datasets.utils import verify_str_arg
from flambeau.vision.datasets.vision import Transform

__all__ = ["Imagenette"]

_HOME = "https://s3.amazonaws.com/fast-ai-imageclas/"


class Imagenette(ImageList):
    """13 394 photographs in ``root/imagenette2``, or ``-320`` and ``-160`` for smaller ones.

    ``split`` is train or val; ``size`` is full, 320px or 160px.
    """

    wnids: list[str]
    wnid_to_idx: dict[str, int]
    _ARCHIVES = {
        "full": (f"{_HOME}imagenette2.tgz", "fe2fc210e6bb7c5664d602c3cd71e612"),
        "320px": (f"{_HOME}imagenette2-320.tgz", "3df6f0d01a2c9592104656642f5e78a3"),
        "160px": (f"{_HOME}imagenette2-160.tgz", "e793b78cc4c9e9a4ccc0c1155377a412"),
    }
    _WNID_TO_CLASS = {
        "n01440764": ("tench", "Tinca tinca"),
        "n02102040": ("English springer", "English springer spaniel"),
        "n02979186": ("cassette player",),
        "n03000684": ("chain saw", "chainsaw"),
        "n03028079": ("church", "church building"),
        "n03394916": ("French horn", "horn"),
        "n03417042": ("garbage truck", "dustcart"),
        "n03425413": ("gas pump", "gasoline pump", "petrol pump", "island dispenser"),
        "n03445777": ("golf ball",),
        "n03888257": ("parachute", "chute"),
    }

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        size: str = "full",
        download: bool = False,
        transform: Transform = None,
        target_transform: Transform = None,
        loader: Loader = default_loader,
    ) -> None:
        super().__init__(root, transform, target_transform, loader)
        self._split: str = verify_str_arg(split, "split", ("train", "val"))
        self._size: str = verify_str_arg(size, "size", self._ARCHIVES)
        archive = Resource(*self._ARCHIVES[size])
        folder = archive.url.removeprefix(_HOME).removesuffix(".tgz")
        prepare(self._fb_below(), [f"{folder}/{split}"], [archive], download)
        images = self._fb_below(folder, split)
        self.wnids, self.wnid_to_idx = find_classes(images)
        self.classes: list[Any] = [self._WNID_TO_CLASS[wnid] for wnid in self.wnids]
        self.class_to_idx: dict[Any, int] = {
            name: number for names, number in numbered(self.classes).items() for name in names
        }
        self._fb_take(make_dataset(images, self.wnid_to_idx, extensions=".jpeg"))
