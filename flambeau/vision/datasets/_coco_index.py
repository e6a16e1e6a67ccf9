"""COCO annotations: the contents of a file, by image and by category."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from flambeau.vision.datasets._coco_masks import mask_of
from flambeau.vision.datasets._published import read_json, reading

__all__ = ["COCO"]

_Ids = int | Sequence[int]


class COCO:
    """An annotation file, with pycocotools' names for looking things up."""

    def __init__(self, annotation_file: str | os.PathLike[str]) -> None:
        content = read_json(os.fspath(annotation_file))
        if not isinstance(content, dict) or "images" not in content:
            raise RuntimeError(
                f"{os.fspath(annotation_file)}: not annotations in COCO's form, which name images"
            )
        with reading(os.fspath(annotation_file)):
            self._index(content)

    def _index(self, content: dict[str, Any]) -> None:
        self.dataset: dict[str, Any] = content
        self.imgs: dict[int, Any] = {each["id"]: each for each in content["images"]}
        self.cats: dict[int, Any] = {each["id"]: each for each in content.get("categories", ())}
        self.anns: dict[int, Any] = {}
        self.imgToAnns: defaultdict[int, list[Any]] = defaultdict(list)
        self.catToImgs: defaultdict[int, list[int]] = defaultdict(list)
        for each in content.get("annotations", ()):
            self.anns[each["id"]] = each
            self.imgToAnns[each["image_id"]].append(each)
            if "category_id" in each:
                self.catToImgs[each["category_id"]].append(each["image_id"])

    def getImgIds(self, imgIds: _Ids = (), catIds: _Ids = ()) -> list[int]:
        """Return the ids of all images, or of those that show all given categories."""
        found = set(_several(imgIds)) or set(self.imgs)
        for category in _several(catIds):
            found &= set(self.catToImgs[category])
        return list(found)

    def getCatIds(
        self,
        catNms: str | Sequence[str] = (),
        supNms: str | Sequence[str] = (),
        catIds: _Ids = (),
    ) -> list[int]:
        """Return the ids of all categories, or of those with given names."""
        wanted = {
            "name": [catNms] if isinstance(catNms, str) else catNms,
            "supercategory": [supNms] if isinstance(supNms, str) else supNms,
            "id": _several(catIds),
        }
        return [
            number
            for number, category in self.cats.items()
            if all(not values or category[key] in values for key, values in wanted.items())
        ]

    def getAnnIds(
        self,
        imgIds: _Ids = (),
        catIds: _Ids = (),
        areaRng: Sequence[float] = (),
        iscrowd: bool | None = None,
    ) -> list[int]:
        """Return the ids of annotations, by image, category and range of area."""
        images, categories = _several(imgIds), _several(catIds)
        listed: Iterable[Any] = self.anns.values()
        if images:
            listed = [each for image in images for each in self.imgToAnns.get(image, ())]
        return [
            each["id"]
            for each in listed
            if (not categories or each["category_id"] in categories)
            and (not areaRng or areaRng[0] < each["area"] < areaRng[1])
            and (iscrowd is None or each["iscrowd"] == iscrowd)
        ]

    def annToMask(self, ann: Any) -> Any:
        """Return the outline of an annotation as a mask, an array (height, width) of 0 and 1."""
        image = self.imgs[ann["image_id"]]
        return mask_of(ann["segmentation"], image["height"], image["width"])

    def loadImgs(self, ids: _Ids = ()) -> list[Any]:
        """Return the records of images by id."""
        return [self.imgs[each] for each in _several(ids)]

    def loadAnns(self, ids: _Ids = ()) -> list[Any]:
        """Return annotations by id."""
        return [self.anns[each] for each in _several(ids)]

    def loadCats(self, ids: _Ids = ()) -> list[Any]:
        """Return categories by id."""
        return [self.cats[each] for each in _several(ids)]


def _several(ids: _Ids) -> list[int]:
    return [ids] if isinstance(ids, int) else list(ids)
