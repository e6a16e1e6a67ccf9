"""EuroSAT (https://github.com/phelber/eurosat): satellite images in visible light."""

from __future__ import annotations

import os

from flambeau.vision.datasets._published import Loader, PathLike, Resource, prepare
from flambeau.vision.datasets.folder import ImageFolder, default_loader
from flambeau.vision.datasets.vision import Transform

__all__ = ["EuroSAT"]

_ARCHIVE = Resource(
    "https://huggingface.co/datasets/torchgeo/eurosat/resolve/"
    "c877bcd43f099cd0196738f714544e355477f3fd/EuroSAT.zip",
    "c8fa014336c82ac7804f0398fcb19387",
)


class EuroSAT(ImageFolder):
    """27 000 satellite images of ten classes of land use, in ``root/eurosat/2750``."""

    def __init__(
        self,
        root: PathLike,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Loader = default_loader,
    ) -> None:
        home = os.path.expanduser(os.fspath(root))
        folder = os.path.join(home, "eurosat")
        prepare(folder, ["2750"], [_ARCHIVE], download)
        super().__init__(os.path.join(folder, "2750"), transform, target_transform, loader)
        self.root: str | os.PathLike[str] | None = home
