"""KITTI (https://www.cvlibs.net/datasets/kitti/eval_object.php): objects in street scenes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from flambeau.vision.datasets._published import PathLike, Resource, prepare, read_lines
from flambeau.vision.datasets.folder import open_image
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["Kitti"]


class Kitti(VisionDataset):
    """Left colour images of the object benchmark, in ``root/Kitti/raw``.

    A target is a list of dictionaries, one for each object; test images have none (None).
    """

    data_url = "https://s3.eu-central-1.amazonaws.com/avg-kitti/"
    resources: list[str] = ["data_object_image_2.zip", "data_object_label_2.zip"]
    image_dir_name = "image_2"
    labels_dir_name = "label_2"

    def __init__(
        self,
        root: PathLike,
        train: bool = True,
        transform: Transform = None,
        target_transform: Transform = None,
        transforms: Callable[..., Any] | None = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transforms, transform, target_transform)
        self.train = train
        folder = os.path.join(os.fspath(self.root or ""), "Kitti", "raw")
        part = "training" if train else "testing"
        needed = [f"{part}/{self.image_dir_name}"]
        needed += [f"{part}/{self.labels_dir_name}"] if train else []
        resources = [Resource(f"{self.data_url}{name}") for name in self.resources]
        prepare(folder, needed, resources, download)
        images = os.path.join(folder, part, self.image_dir_name)
        labels = os.path.join(folder, part, self.labels_dir_name)
        names = os.listdir(images)
        self.images: list[str] = [os.path.join(images, name) for name in names]
        texts = [os.path.join(labels, f"{name.split('.')[0]}.txt") for name in names]
        self.targets: list[str] = texts if train else []

    def __getitem__(self, index: int) -> Any:
        target = _objects(self.targets[index]) if self.train else None
        return self._fb_transformed_together(open_image(self.images[index]), target)

    def __len__(self) -> int:
        return len(self.images)


def _objects(path: str) -> list[dict[str, Any]]:
    lines = read_lines(path)
    try:
        return [_object(line) for line in lines]
    except (IndexError, ValueError) as error:
        raise RuntimeError(f"{path}: not KITTI annotations ({error})") from error


def _object(line: str) -> dict[str, Any]:
    kind, truncated, occluded, *rest = line.split(" ")
    numbers = [float(value) for value in rest]
    return {
        "type": kind,
        "truncated": float(truncated),
        "occluded": int(occluded),
        "alpha": numbers[0],
        "bbox": numbers[1:5],
        "dimensions": numbers[5:8],
        "location": numbers[8:11],
        "rotation_y": numbers[11],
    }
