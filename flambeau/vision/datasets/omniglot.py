"""Omniglot (https://github.com/brendenlake/omniglot): characters of many alphabets."""

from __future__ import annotations

import os
from typing import Any

from flambeau.vision.datasets._published import Loader, PathLike, Resource, prepare
from flambeau.vision.datasets.folder import open_image
from flambeau.vision.datasets.utils import list_dir, list_files
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["Omniglot"]


class Omniglot(VisionDataset):
    """1623 characters, each drawn by twenty people, in ``root/omniglot-py``.

    ``background`` chooses between the two parts. Characters are numbered in the order in which the
    system lists their folders.
    """

    folder = "omniglot-py"
    download_url_prefix = "https://raw.githubusercontent.com/brendenlake/omniglot/master/python"
    zips_md5: dict[str, str] = {
        "images_background": "68d2efa1b9178cc56df9314c21c6e718",
        "images_evaluation": "6b91aef0f799c5bb55b94e3f2daec811",
    }

    def __init__(
        self,
        root: PathLike,
        background: bool = True,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Loader | None = None,
    ) -> None:
        home = os.path.join(os.path.expanduser(os.fspath(root)), self.folder)
        super().__init__(home, transform=transform, target_transform=target_transform)
        self.background = background
        self.loader = loader
        part = "images_background" if background else "images_evaluation"
        source = Resource(f"{self.download_url_prefix}/{part}.zip", self.zips_md5[part])
        prepare(home, [part], [source], download)
        self.target_folder: str = os.path.join(home, part)
        self._alphabets = list_dir(self.target_folder)
        self._characters = [
            os.path.join(alphabet, letter)
            for alphabet in self._alphabets
            for letter in list_dir(os.path.join(self.target_folder, alphabet))
        ]
        self._flat_character_images = [
            (image, number)
            for number, letter in enumerate(self._characters)
            for image in list_files(os.path.join(self.target_folder, letter), ".png")
        ]

    def __len__(self) -> int:
        return len(self._flat_character_images)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        name, number = self._flat_character_images[index]
        path = os.path.join(self.target_folder, self._characters[number], name)
        image = open_image(path).convert("L") if self.loader is None else self.loader(path)
        return self._fb_transformed(image, number)
