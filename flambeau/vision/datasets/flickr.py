"""Flickr8k and Flickr30k: photographs with five captions each."""

from __future__ import annotations

import glob
import os
from collections import defaultdict
from html.parser import HTMLParser
from typing import Any

from flambeau.vision.datasets._published import Loader, PathLike, reading
from flambeau.vision.datasets.folder import default_loader
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["Flickr8k", "Flickr30k"]


class _Page(HTMLParser):
    """Parser of Flickr8k's page: a table of links to photographs, each followed by its captions."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self.folder = folder
        self.captions: dict[str, list[str]] = {}
        self._is_in_table = False
        self._photo: str | None = None
        self._tag = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag = tag
        self._is_in_table = self._is_in_table or tag == "table"

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""
        self._is_in_table = self._is_in_table and tag != "table"

    def handle_data(self, data: str) -> None:
        text = data.strip()
        if not self._is_in_table or not text:
            return
        if self._tag == "a":
            self._open(text)
        elif text == "Image Not Found":
            self._photo = None
        elif self._tag == "li" and self._photo is not None:
            self.captions[self._photo].append(text)

    def _open(self, address: str) -> None:
        """A link ends in the number of a photograph, with which its file name begins."""
        number = address.rstrip("/").split("/")[-1]
        found = glob.glob(os.path.join(glob.escape(self.folder), f"{glob.escape(number)}_*.jpg"))
        self._photo = found[0] if found else None
        if self._photo is not None:
            self.captions[self._photo] = []


class _Captioned(VisionDataset):
    """Photographs, each with a list of captions."""

    def __init__(
        self,
        root: PathLike,
        ann_file: str,
        transform: Transform = None,
        target_transform: Transform = None,
        loader: Loader = default_loader,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.ann_file: str = os.path.expanduser(ann_file)
        self.loader = loader
        with open(self.ann_file, encoding="utf-8") as file, reading(self.ann_file):
            self.annotations: dict[str, list[str]] = self._fb_parse(file.read())
        self.ids: list[str] = sorted(self.annotations)

    def _fb_parse(self, text: str) -> dict[str, list[str]]:
        """Return the captions of each photograph."""
        raise NotImplementedError

    def _fb_path(self, id: str) -> str:
        return id

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        number = self.ids[index]
        return self._fb_transformed(self.loader(self._fb_path(number)), self.annotations[number])

    def __len__(self) -> int:
        return len(self.ids)


class Flickr8k(_Captioned):
    """Photographs of a folder with the captions on the page ``ann_file``."""

    def _fb_parse(self, text: str) -> dict[str, list[str]]:
        page = _Page(os.fspath(self.root or ""))
        page.feed(text)
        return page.captions


class Flickr30k(_Captioned):
    """Photographs of a folder with captions: ``ann_file`` has lines ``name#0<tab>caption``."""

    def _fb_parse(self, text: str) -> dict[str, list[str]]:
        captions: defaultdict[str, list[str]] = defaultdict(list)
        for line in text.splitlines():
            if line.strip():
                name, caption = line.strip().split("\t")
                captions[name.rsplit("#", 1)[0]].append(caption)
        return captions

    def _fb_path(self, id: str) -> str:
        return os.path.join(os.fspath(self.root or ""), id)
