"""COCO (https://cocodataset.org): photographs with segmented objects or with captions."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from flambeau.vision.datasets._coco_index import COCO
from flambeau.vision.datasets._published import PathLike
from flambeau.vision.datasets.folder import pil_loader
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["CocoCaptions", "CocoDetection"]


class CocoDetection(VisionDataset):
    """Images of a folder with their annotations in COCO's JSON.

    A target is a list of dictionaries. ``coco`` has pycocotools' names for looking things up.
    """

    def __init__(
        self,
        root: PathLike,
        annFile: PathLike,
        transform: Transform = None,
        target_transform: Transform = None,
        transforms: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(root, transforms, transform, target_transform)
        self.coco: COCO = COCO(annFile)
        self.ids: list[int] = sorted(self.coco.imgs)

    def _load_image(self, id: int) -> Any:
        name = self.coco.loadImgs(id)[0]["file_name"]
        return pil_loader(os.path.join(os.fspath(self.root or ""), name))

    def _load_target(self, id: int) -> list[Any]:
        return self.coco.loadAnns(self.coco.getAnnIds(id))

    def __getitem__(self, index: int) -> Any:
        if not isinstance(index, int):
            raise ValueError(f"Index must be of type integer, got {type(index)} instead.")
        number = self.ids[index]
        return self._fb_transformed_together(self._load_image(number), self._load_target(number))

    def __len__(self) -> int:
        return len(self.ids)


class CocoCaptions(CocoDetection):
    """Images of a folder with captions."""

    def _load_target(self, id: int) -> list[str]:
        return [each["caption"] for each in super()._load_target(id)]
