"""SBU Captioned Photos (https://www.cs.rice.edu/~vo9/sbucaptions/)."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from flambeau.vision.datasets._published import (
    ImageList,
    Loader,
    PathLike,
    Resource,
    bring,
    prepare,
)
from flambeau.vision.datasets.folder import default_loader
from flambeau.vision.datasets.utils import download_url
from flambeau.vision.datasets.vision import Transform

__all__ = ["SBU"]


class SBU(ImageList):
    """Flickr photographs with one caption each, in ``root/dataset``.

    The archive holds the captions and URLs of the photographs. With ``download`` they are fetched
    one by one; those that no longer exist are left out.
    """

    url = "https://www.cs.rice.edu/~vo9/sbucaptions/SBUCaptionedPhotoDataset.tar.gz"
    filename = "SBUCaptionedPhotoDataset.tar.gz"
    md5_checksum = "9aec147b3488753cf758b4d493422285"

    def __init__(
        self,
        root: PathLike,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = True,
        loader: Loader = default_loader,
    ) -> None:
        super().__init__(root, transform, target_transform, loader)
        if download:
            self.download()
        source = Resource(self.url, self.md5_checksum, self.filename)
        prepare(self._fb_below(), [(self.filename, self.md5_checksum), "dataset"], [source])
        pairs = zip(self._fb_lines("urls"), self._fb_lines("captions"), strict=True)
        files = ((self._fb_below("dataset", os.path.basename(url)), text) for url, text in pairs)
        self._fb_take((path, text) for path, text in files if os.path.exists(path))
        self.photos: list[str] = [os.path.basename(path) for path in self._image_files]
        self.captions: list[Any] = self._labels

    def _fb_lines(self, kind: str) -> list[str]:
        path = self._fb_below("dataset", f"SBU_captioned_photo_dataset_{kind}.txt")
        with open(path, encoding="utf-8") as file:
            return [line.rstrip() for line in file]

    def download(self) -> None:
        """Download the archive and the photographs that it lists."""
        if not os.path.isdir(self._fb_below("dataset")):
            bring(Resource(self.url, self.md5_checksum, self.filename), self._fb_below())
        for url in self._fb_lines("urls"):
            if not os.path.exists(self._fb_below("dataset", os.path.basename(url))):
                with contextlib.suppress(RuntimeError):  # many have been taken down
                    download_url(url, self._fb_below("dataset"))
