"""SUN397 (https://vision.princeton.edu/projects/2010/SUN/)."""

from __future__ import annotations

from pathlib import Path

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
from flambeau.vision.datasets.vision import Transform

__all__ = ["SUN397"]

_ARCHIVE = Resource(
    "http://vision.princeton.edu/projects/2010/SUN/SUN397.tar.gz",
    "8ca2778205c41d23104230ba66911c7a",
)


class SUN397(ImageList):
    """108 754 photographs of 397 scene categories, in ``root/SUN397``."""

    def __init__(
        self,
        root: PathLike,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Loader = default_loader,
    ) -> None:
        super().__init__(root, transform, target_transform, loader)
        prepare(self._fb_below(), ["SUN397/ClassName.txt"], [_ARCHIVE], download)
        folder = Path(self._fb_below("SUN397"))
        # A line is /a/abbey: the letter is a folder and not part of the name.
        self._fb_name_classes([line[3:] for line in read_lines(str(folder / "ClassName.txt"))])
        with reading(str(folder / "ClassName.txt")):
            for path in sorted(folder.rglob("sun_*.jpg")):
                name = "/".join(path.relative_to(folder).parts[1:-1])
                self._fb_take([(str(path), self.class_to_idx[name])])
