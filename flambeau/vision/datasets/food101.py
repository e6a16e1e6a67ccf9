"""Food-101 (https://data.vision.ee.ethz.ch/cvl/datasets_extra/food-101/)."""

from __future__ import annotations

import json

from flambeau.vision.datasets._published import Resource, SplitImages, prepare

__all__ = ["Food101"]

_ARCHIVE = Resource(
    "http://data.vision.ee.ethz.ch/cvl/food-101.tar.gz", "85eeb15f3717b99a5da872d97d918f87"
)


class Food101(SplitImages):
    """101 000 photographs of 101 dishes, in ``root/food-101``; ``split`` is train or test."""

    def _load(self, download: bool) -> None:
        prepare(self._below(), ["food-101/meta", "food-101/images"], [_ARCHIVE], download)
        with open(self._below("food-101", "meta", f"{self._split}.json"), encoding="utf-8") as file:
            names = json.load(file)
        self._name_classes(sorted(names))
        for dish, images in names.items():
            paths = (
                self._below("food-101", "images", *f"{each}.jpg".split("/")) for each in images
            )
            self._take((path, self.class_to_idx[dish]) for path in paths)
