"""Places365 (http://places2.csail.mit.edu): photographs of 365 scene categories."""

from __future__ import annotations

from typing import Any

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

__all__ = ["Places365"]

_HOME = "http://data.csail.mit.edu/places/places365/"


class Places365(ImageList):
    """Photographs in folders of ``root``, named as in the archives.

    ``split`` is train-standard, train-challenge, val or test, which has no targets (None).
    ``small`` takes the images of 256 × 256 pixels. ``imgs`` are paths with their classes.
    """

    _SPLITS = ("train-standard", "train-challenge", "val", "test")
    _DEVKIT_META = {
        "standard": ("filelist_places365-standard.tar", "35a0585fee1fa656440f3ab298f8479c"),
        "challenge": ("filelist_places365-challenge.tar", "70a8307e459c3de41690a7c76c931734"),
    }
    _CATEGORIES_META = ("categories_places365.txt", "06c963b85866bd0649f97cb43dd16673")
    _FILE_LIST_META = {
        "train-standard": ("places365_train_standard.txt", "30f37515461640559006b8329efbed1a"),
        "train-challenge": ("places365_train_challenge.txt", "b2931dc997b8c33c27e7329c073a6b57"),
        "val": ("places365_val.txt", "e9f2fd57bfd9d07630173f4e8708e4b1"),
        "test": ("places365_test.txt", "2fce8233fe493576d724142e45d93653"),
    }
    _IMAGES_META = {
        ("train-standard", False): (
            "train_large_places365standard.tar",
            "67e186b496a84c929568076ed01a8aa1",
        ),
        ("train-challenge", False): (
            "train_large_places365challenge.tar",
            "605f18e68e510c82b958664ea134545f",
        ),
        ("val", False): ("val_large.tar", "9b71c4993ad89d2d8bcbdc4aef38042f"),
        ("test", False): ("test_large.tar", "41a4b6b724b1d2cd862fb3871ed59913"),
        ("train-standard", True): (
            "train_256_places365standard.tar",
            "53ca1c756c3d1e7809517cc47c5561c5",
        ),
        ("train-challenge", True): (
            "train_256_places365challenge.tar",
            "741915038a5e3471ec7332404dfb64ef",
        ),
        ("val", True): ("val_256.tar", "e27b17d8d44f4af9a78502beb927f808"),
        ("test", True): ("test_256.tar", "f532f6ad7b582262a2ec8009075e186b"),
    }

    def __init__(
        self,
        root: PathLike,
        split: str = "train-standard",
        small: bool = False,
        download: bool = False,
        transform: Transform = None,
        target_transform: Transform = None,
        loader: Loader = default_loader,
    ) -> None:
        super().__init__(root, transform, target_transform, loader)
        self.split: str = verify_str_arg(split, "split", self._SPLITS)
        self.small = small
        lists = [self._CATEGORIES_META, self._FILE_LIST_META[split]]
        name, md5 = self._DEVKIT_META[self.variant]
        prepare(self._fb_below(), lists, [Resource(f"{_HOME}{name}", md5)], download)
        name, md5 = self._IMAGES_META[split, small]
        # The archives of small training images already contain their folder, as all others do.
        prepare(self._fb_below(), [self._fb_folder], [Resource(f"{_HOME}{name}", md5)], download)
        with reading(classes := self._fb_below(self._CATEGORIES_META[0])):
            rows = (line.rsplit(" ", 1) for line in read_lines(classes))
            self.class_to_idx: dict[Any, int] = {place: int(number) for place, number in rows}
        self.classes: list[Any] = sorted(self.class_to_idx)
        with reading(images := self._fb_below(self._FILE_LIST_META[split][0])):
            self._fb_take(map(self._fb_sample, read_lines(images)))
        self.imgs: list[tuple[str, Any]] = list(zip(self._image_files, self._labels, strict=True))
        self.targets: list[Any] = self._labels

    @property
    def variant(self) -> str:
        """The release, standard or challenge."""
        return "challenge" if "challenge" in self.split else "standard"

    @property
    def _fb_folder(self) -> str:
        size = "256" if self.small else "large"
        return f"data_{size}_{self.variant}" if "train" in self.split else f"{self.split}_{size}"

    @property
    def images_dir(self) -> str:
        """The folder of the images."""
        return self._fb_below(self._fb_folder)

    def _fb_sample(self, line: str) -> tuple[str, Any]:
        name, _, number = line.partition(" ")
        return f"{self.images_dir}/{name.lstrip('/')}", int(number) if number else None

    def extra_repr(self) -> str:
        return f"Split: {self.split}\nSmall: {self.small}"
