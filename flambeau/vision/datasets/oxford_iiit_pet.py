"""The Oxford-IIIT pets (https://www.robots.ox.ac.uk/~vgg/data/pets/)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from flambeau.vision.datasets._published import (
    PathLike,
    Resource,
    numbered,
    prepare,
    read_lines,
    reading,
    target_types,
    targets_of,
)
from flambeau.vision.datasets.folder import open_image, pil_loader
from flambeau.vision.datasets.utils import verify_str_arg
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["OxfordIIITPet"]

_HOME = "https://www.robots.ox.ac.uk/~vgg/data/pets/data/"
_RESOURCES = [
    Resource(f"{_HOME}images.tar.gz", "5c4f3ee8e5d25df40f4fd59a7f44e54c"),
    Resource(f"{_HOME}annotations.tar.gz", "95a8c909bbe2e81eed6a22bccdf3f68f"),
]


class OxfordIIITPet(VisionDataset):
    """Photographs of 37 breeds of cats and dogs, in ``root/oxford-iiit-pet``.

    ``split`` is trainval or test. ``target_types`` is one of category, binary-category (cat or dog)
    and segmentation (an image of pet, background and border), or several of them.
    """

    _VALID_TARGET_TYPES = ("category", "binary-category", "segmentation")

    def __init__(
        self,
        root: PathLike,
        split: str = "trainval",
        target_types: str | Sequence[str] = "category",
        transforms: Callable[..., Any] | None = None,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transforms, transform, target_transform)
        self._split: str = verify_str_arg(split, "split", ("trainval", "test"))
        self._target_types = _types(target_types)
        folder = os.path.join(os.fspath(self.root or ""), "oxford-iiit-pet")
        prepare(folder, ["images", "annotations"], _RESOURCES, download)
        # Breeds and species are counted from 1; the fourth column is the breed within the species.
        listed = f"{folder}/annotations/{split}.txt"
        rows = [line.split() for line in read_lines(listed)]
        with reading(listed):
            self._labels = [int(row[1]) - 1 for row in rows]
            self._bin_labels = [int(row[2]) - 1 for row in rows]
        self._images = [f"{folder}/images/{row[0]}.jpg" for row in rows]
        self._segs = [f"{folder}/annotations/trimaps/{row[0]}.png" for row in rows]
        self.bin_classes: list[str] = ["Cat", "Dog"]
        self.bin_class_to_idx: dict[Any, int] = numbered(self.bin_classes)
        breeds = {int(row[1]): row[0].rsplit("_", 1)[0] for row in rows}
        self.classes: list[str] = [_title(breeds[number]) for number in sorted(breeds)]
        self.class_to_idx: dict[Any, int] = numbered(self.classes)

    def __len__(self) -> int:
        return len(self._images)

    def __getitem__(self, index: int) -> Any:
        target = targets_of(self._target_types, lambda kind: self._fb_target(kind, index))
        return self._fb_transformed_together(pil_loader(self._images[index]), target)

    def _fb_target(self, kind: str, index: int) -> Any:
        if kind == "segmentation":
            return open_image(self._segs[index])
        return (self._labels if kind == "category" else self._bin_labels)[index]


def _types(given: str | Sequence[str]) -> list[str]:
    return target_types(given, "target_types", OxfordIIITPet._VALID_TARGET_TYPES)


def _title(breed: str) -> str:
    return " ".join(word.title() for word in breed.split("_"))
