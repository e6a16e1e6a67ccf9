"""CLEVR (https://cs.stanford.edu/people/jcjohns/clevr/), with the number of objects as class."""

from __future__ import annotations

import os
from typing import Any

from flambeau.vision.datasets._published import (
    Resource,
    SplitImages,
    prepare,
    read_json,
    reading,
)

__all__ = ["CLEVRClassification"]

_ARCHIVE = Resource(
    "https://dl.fbaipublicfiles.com/clevr/CLEVR_v1.0.zip", "b11922020e72d0cd9154779b2d3d07d2"
)


class CLEVRClassification(SplitImages):
    """Rendered scenes and the number of objects in each, in ``root/clevr``.

    ``split`` is train, val or test, which has no targets (None).
    """

    _fb_SPLITS = ("train", "val", "test")

    def _fb_load(self, download: bool) -> None:
        folder = self._fb_below("clevr")
        prepare(folder, ["CLEVR_v1.0"], [_ARCHIVE], download)
        images = f"{folder}/CLEVR_v1.0/images/{self._split}"
        names = sorted(os.listdir(images))
        counts: dict[str, Any] = dict.fromkeys(names)
        if self._split != "test":
            scenes = f"{folder}/CLEVR_v1.0/scenes/CLEVR_{self._split}_scenes.json"
            content = read_json(scenes)
            with reading(scenes):
                found = {scene["image_filename"]: scene["objects"] for scene in content["scenes"]}
                counts = {name: len(found[name]) for name in names}
        self._fb_take((f"{images}/{name}", counts[name]) for name in names)
