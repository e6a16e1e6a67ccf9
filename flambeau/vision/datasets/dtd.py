"""The Describable Textures Dataset (https://www.robots.ox.ac.uk/~vgg/data/dtd/)."""

from __future__ import annotations

from flambeau.vision.datasets._published import (
    Loader,
    PathLike,
    Resource,
    SplitImages,
    prepare,
    read_lines,
)
from flambeau.vision.datasets.folder import default_loader
from flambeau.vision.datasets.vision import Transform

__all__ = ["DTD"]

_ARCHIVE = Resource(
    "https://www.robots.ox.ac.uk/~vgg/data/dtd/download/dtd-r1.0.1.tar.gz",
    "fff73e5086ae6bdbea199a49dfb8a4c1",
)


class DTD(SplitImages):
    """5640 textures of 47 kinds, in ``root/dtd``.

    ``split`` is train, val or test; ``partition`` is the number of the split, 1 to 10.
    """

    _fb_SPLITS = ("train", "val", "test")

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        partition: int = 1,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Loader = default_loader,
    ) -> None:
        if not isinstance(partition, int) or not 1 <= partition <= 10:
            raise ValueError(
                "Parameter 'partition' should be an integer with `1 <= partition <= 10`, but got "
                f"{partition!r} instead"
            )
        self._partition = partition
        super().__init__(root, split, transform, target_transform, download, loader)

    def _fb_load(self, download: bool) -> None:
        # The archive contains a folder of the same name.
        folder = self._fb_below("dtd")
        prepare(folder, ["dtd/labels", "dtd/images"], [_ARCHIVE], download)
        names = read_lines(f"{folder}/dtd/labels/{self._split}{self._partition}.txt")
        kinds = [name.split("/")[0] for name in names]
        self._fb_name_classes(sorted(set(kinds)))
        files = (f"{folder}/dtd/images/{name}" for name in names)
        self._fb_take(zip(files, map(self.class_to_idx.__getitem__, kinds), strict=True))

    def extra_repr(self) -> str:
        return f"split={self._split}, partition={self._partition}"
