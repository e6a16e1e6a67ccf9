"""Food-101 (https://data.vision.ee.ethz.ch/cvl/datasets_extra/food-101/)."""

from __future__ import annotations

import os

from flambeau.vision.datasets._published import (
    Resource,
    SplitImages,
    prepare,
    read_json,
    reading,
)

__all__ = ["Food101"]

_ARCHIVE = Resource(
    "http://data.vision.ee.ethz.ch/cvl/food-101.tar.gz", "85eeb15f3717b99a5da872d97d918f87"
)


class Food101(SplitImages):
    """101 000 photographs of 101 dishes, in ``root/food-101``; ``split`` is train or test."""

    def _fb_load(self, download: bool) -> None:
        prepare(self._fb_below(), ["food-101/meta", "food-101/images"], [_ARCHIVE], download)
        listed = self._fb_below("food-101", "meta", f"{self._split}.json")
        names = read_json(listed)
        with reading(listed):
            self._fb_name_classes(sorted(names))
            pairs = [(name, self.class_to_idx[dish]) for dish in names for name in names[dish]]
            images = self._fb_below("food-101", "images")
            self._fb_take(
                (os.path.join(images, *f"{name}.jpg".split("/")), at) for name, at in pairs
            )
