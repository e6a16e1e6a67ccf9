"""Cityscapes (https://www.cityscapes-dataset.com): street scenes with the class of each pixel."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from flambeau.vision.datasets._published import PathLike, read_json, target_types, targets_of
from flambeau.vision.datasets.folder import open_image, pil_loader
from flambeau.vision.datasets.utils import extract_archive, verify_str_arg
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["Cityscapes"]

_SUFFIXES = {
    "instance": "instanceIds.png",
    "semantic": "labelIds.png",
    "color": "color.png",
    "polygon": "polygons.json",
}

# Name, id, training id, category and its id, whether it has instances, whether evaluation ignores
# it, colour.
_CLASSES = """
    unlabeled; 0; 255; void; 0; no; yes; 0 0 0
    ego vehicle; 1; 255; void; 0; no; yes; 0 0 0
    rectification border; 2; 255; void; 0; no; yes; 0 0 0
    out of roi; 3; 255; void; 0; no; yes; 0 0 0
    static; 4; 255; void; 0; no; yes; 0 0 0
    dynamic; 5; 255; void; 0; no; yes; 111 74 0
    ground; 6; 255; void; 0; no; yes; 81 0 81
    road; 7; 0; flat; 1; no; no; 128 64 128
    sidewalk; 8; 1; flat; 1; no; no; 244 35 232
    parking; 9; 255; flat; 1; no; yes; 250 170 160
    rail track; 10; 255; flat; 1; no; yes; 230 150 140
    building; 11; 2; construction; 2; no; no; 70 70 70
    wall; 12; 3; construction; 2; no; no; 102 102 156
    fence; 13; 4; construction; 2; no; no; 190 153 153
    guard rail; 14; 255; construction; 2; no; yes; 180 165 180
    bridge; 15; 255; construction; 2; no; yes; 150 100 100
    tunnel; 16; 255; construction; 2; no; yes; 150 120 90
    pole; 17; 5; object; 3; no; no; 153 153 153
    polegroup; 18; 255; object; 3; no; yes; 153 153 153
    traffic light; 19; 6; object; 3; no; no; 250 170 30
    traffic sign; 20; 7; object; 3; no; no; 220 220 0
    vegetation; 21; 8; nature; 4; no; no; 107 142 35
    terrain; 22; 9; nature; 4; no; no; 152 251 152
    sky; 23; 10; sky; 5; no; no; 70 130 180
    person; 24; 11; human; 6; yes; no; 220 20 60
    rider; 25; 12; human; 6; yes; no; 255 0 0
    car; 26; 13; vehicle; 7; yes; no; 0 0 142
    truck; 27; 14; vehicle; 7; yes; no; 0 0 70
    bus; 28; 15; vehicle; 7; yes; no; 0 60 100
    caravan; 29; 255; vehicle; 7; yes; yes; 0 0 90
    trailer; 30; 255; vehicle; 7; yes; yes; 0 0 110
    train; 31; 16; vehicle; 7; yes; no; 0 80 100
    motorcycle; 32; 17; vehicle; 7; yes; no; 0 0 230
    bicycle; 33; 18; vehicle; 7; yes; no; 119 11 32
    license plate; -1; -1; vehicle; 7; no; yes; 0 0 142
"""


class CityscapesClass(NamedTuple):
    """A class of pixels."""

    name: str
    id: int
    train_id: int
    category: str
    category_id: int
    has_instances: bool
    ignore_in_eval: bool
    color: tuple[int, int, int]


def _class(row: str) -> CityscapesClass:
    name, number, train, category, its_number, instances, ignored, color = row.strip().split("; ")
    red, green, blue = map(int, color.split())
    return CityscapesClass(
        name,
        int(number),
        int(train),
        category,
        int(its_number),
        instances == "yes",
        ignored == "yes",
        (red, green, blue),
    )


class Cityscapes(VisionDataset):
    """Photographs ``root/leftImg8bit/split/city`` with targets in ``gtFine`` or ``gtCoarse``.

    ``split`` is train, val or test where ``mode`` is fine, train, train_extra or val where it is
    coarse. ``target_type`` is one of instance, semantic, color (images) and polygon (a dictionary),
    or several of them. Archives in ``root`` are unpacked; an account is needed to fetch them.
    """

    classes: list[CityscapesClass] = list(map(_class, _CLASSES.strip().splitlines()))

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        mode: str = "fine",
        target_type: str | Sequence[str] = "instance",
        transform: Transform = None,
        target_transform: Transform = None,
        transforms: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(root, transforms, transform, target_transform)
        verify_str_arg(mode, "mode", ("fine", "coarse"))
        self.mode = "gtFine" if mode == "fine" else "gtCoarse"
        known = ("train", "test", "val") if mode == "fine" else ("train", "train_extra", "val")
        listed = "', '".join(known)
        self.split: str = verify_str_arg(
            split,
            "split",
            known,
            f"Unknown value '{split}' for argument split if mode is '{mode}'. Valid values are "
            f"{{'{listed}'}}.",
        )
        self.target_type: list[str] = target_types(target_type, "target_type", _SUFFIXES)
        home = os.fspath(self.root or "")
        self.images_dir: str = os.path.join(home, "leftImg8bit", split)
        self.targets_dir: str = os.path.join(home, self.mode, split)
        self._fb_unpack(home)
        self.images: list[str] = []
        self.targets: list[list[str]] = []
        for city in os.listdir(self.images_dir):
            for name in os.listdir(os.path.join(self.images_dir, city)):
                self._fb_add(city, name)

    def _fb_unpack(self, home: str) -> None:
        """Unpack the archives of whatever is missing."""
        part = "trainextra" if self.split == "train_extra" else "trainvaltest"
        targets = "gtFine_trainvaltest" if self.mode == "gtFine" else "gtCoarse"
        for folder, name in ((self.images_dir, f"leftImg8bit_{part}"), (self.targets_dir, targets)):
            archive = os.path.join(home, f"{name}.zip")
            if not os.path.isdir(folder) and os.path.isfile(archive):
                extract_archive(archive, home)
            if not os.path.isdir(folder):
                raise RuntimeError(
                    f"Dataset not found or incomplete: {folder} is missing, and so is the archive "
                    f"{archive}. Both come from https://www.cityscapes-dataset.com/downloads"
                )

    def _fb_add(self, city: str, name: str) -> None:
        start = name.split("_leftImg8bit")[0]
        self.images.append(os.path.join(self.images_dir, city, name))
        files = [f"{start}_{self.mode}_{_SUFFIXES[kind]}" for kind in self.target_type]
        self.targets.append([os.path.join(self.targets_dir, city, file) for file in files])

    def __getitem__(self, index: int) -> Any:
        files = dict(zip(self.target_type, self.targets[index], strict=True))
        target = targets_of(self.target_type, lambda kind: _read(kind, files[kind]))
        return self._fb_transformed_together(pil_loader(self.images[index]), target)

    def __len__(self) -> int:
        return len(self.images)

    def extra_repr(self) -> str:
        return f"Split: {self.split}\nMode: {self.mode}\nType: {self.target_type}"


def _read(kind: str, path: str) -> Any:
    if kind != "polygon":
        return open_image(path)
    return read_json(path)
