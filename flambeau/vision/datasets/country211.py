"""Country211: photographs and the country they were taken in."""

from __future__ import annotations

import os

from flambeau.vision.datasets._published import Loader, PathLike, Resource, prepare
from flambeau.vision.datasets.folder import ImageFolder, default_loader
from flambeau.vision.datasets.utils import verify_str_arg
from flambeau.vision.datasets.vision import Transform

__all__ = ["Country211"]

_ARCHIVE = Resource(
    "https://openaipublic.azureedge.net/clip/data/country211.tgz",
    "84988d7644798601126c29e9877aab6a",
)


class Country211(ImageFolder):
    """Photographs of 211 countries, in ``root/country211``; ``split`` is train, valid or test."""

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Loader = default_loader,
    ) -> None:
        self._split: str = verify_str_arg(split, "split", ("train", "valid", "test"))
        folder = os.path.expanduser(os.fspath(root))
        prepare(folder, ["country211"], [_ARCHIVE], download)
        super().__init__(
            os.path.join(folder, "country211", split), transform, target_transform, loader
        )
        self.root: str | os.PathLike[str] | None = folder
