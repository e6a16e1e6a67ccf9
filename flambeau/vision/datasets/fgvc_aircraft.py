"""FGVC-Aircraft (https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/)."""

from __future__ import annotations

from flambeau.vision.datasets._published import (
    ImageList,
    Loader,
    PathLike,
    Resource,
    prepare,
    read_lines,
    reading,
)
from flambeau.vision.datasets.folder import default_loader
from flambeau.vision.datasets.utils import verify_str_arg
from flambeau.vision.datasets.vision import Transform

__all__ = ["FGVCAircraft"]

_ARCHIVE = Resource(
    "https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/archives/fgvc-aircraft-2013b.tar.gz"
)
_LISTS = {"variant": "variants", "family": "families", "manufacturer": "manufacturers"}


class FGVCAircraft(ImageList):
    """10 000 photographs of aircraft, in ``root/fgvc-aircraft-2013b``.

    ``split`` is train, val, trainval or test; ``annotation_level`` says what a class is: variant,
    family or manufacturer.
    """

    def __init__(
        self,
        root: PathLike,
        split: str = "trainval",
        annotation_level: str = "variant",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Loader = default_loader,
    ) -> None:
        super().__init__(root, transform, target_transform, loader)
        self._split: str = verify_str_arg(split, "split", ("train", "val", "trainval", "test"))
        self._annotation_level: str = verify_str_arg(annotation_level, "annotation_level", _LISTS)
        prepare(self._fb_below(), ["fgvc-aircraft-2013b"], [_ARCHIVE], download)
        folder = self._fb_below("fgvc-aircraft-2013b", "data")
        self._fb_name_classes(read_lines(f"{folder}/{_LISTS[annotation_level]}.txt"))
        listed = f"{folder}/images_{annotation_level}_{split}.txt"
        with reading(listed):
            for line in read_lines(listed):
                name, label = line.split(" ", 1)
                self._fb_take([(f"{folder}/images/{name}.jpg", self.class_to_idx[label])])
