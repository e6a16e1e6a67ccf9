"""Sentences of the Stanford Sentiment Treebank rendered as images."""

from __future__ import annotations

from flambeau.vision.datasets._published import Resource, SplitImages, prepare
from flambeau.vision.datasets.folder import make_dataset

__all__ = ["RenderedSST2"]

_ARCHIVE = Resource(
    "https://openaipublic.azureedge.net/clip/data/rendered-sst2.tgz",
    "2384d08e9dcfa4bd55b324e610496ee5",
)


class RenderedSST2(SplitImages):
    """9613 rendered sentences, negative or positive, in ``root/rendered-sst2``.

    ``split`` is train, val or test.
    """

    _fb_SPLITS = ("train", "val", "test")
    _split_to_folder = {"train": "train", "val": "valid", "test": "test"}

    def _fb_load(self, download: bool) -> None:
        self._fb_name_classes(["negative", "positive"])
        part = f"rendered-sst2/{self._split_to_folder[self._split]}"
        prepare(self._fb_below(), [f"{part}/{name}" for name in self.classes], [_ARCHIVE], download)
        self._fb_take(make_dataset(self._fb_below(part), self.class_to_idx, extensions=("png",)))
