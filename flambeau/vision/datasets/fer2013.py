"""FER2013: facial expressions, from a Kaggle competition."""

from __future__ import annotations

import csv
import os
from typing import Any

from flambeau.vision._pillow import pillow
from flambeau.vision.datasets._published import PathLike, prepare
from flambeau.vision.datasets.utils import verify_str_arg
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["FER2013"]

_USAGES = {"train": ("Training",), "test": ("PublicTest", "PrivateTest")}


class FER2013(VisionDataset):
    """35 887 grey faces of 48 × 48 pixels, in ``root/fer2013``; ``split`` is train or test.

    The folder holds fer2013.csv, icml_face_data.csv, or train.csv and test.csv, which has no
    targets (None).
    """

    _RESOURCES = {
        "train": ("train.csv", "3f0dfb3d3fd99c811a1299cb947e3131"),
        "test": ("test.csv", "b02c2298636a634e8c2faabbf3ea9a23"),
        "fer": ("fer2013.csv", "f8428a1edbd21e88f42c73edd2a14f95"),
        "icml": ("icml_face_data.csv", "b114b9e04e6949e5fe8b6a98b3892b1d"),
    }

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        transform: Transform = None,
        target_transform: Transform = None,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self._split: str = verify_str_arg(split, "split", ("train", "test"))
        folder = os.path.join(os.fspath(self.root or ""), "fer2013")
        whole = (self._RESOURCES["fer"], self._RESOURCES["icml"])
        present = (each for each in whole if os.path.isfile(os.path.join(folder, each[0])))
        name, md5 = next(present, self._RESOURCES[split])
        prepare(folder, [(name, md5)])
        self._samples = _read(os.path.join(folder, name), split)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        pixels, target = self._samples[index]
        image = pillow().fromarray(pixels)
        if target is None:
            return (image if self.transform is None else self.transform(image)), None
        return self._fb_transformed(image, target)

    def __len__(self) -> int:
        return len(self._samples)

    def extra_repr(self) -> str:
        return f"split={self._split}"


def _read(path: str, split: str) -> list[tuple[Any, int | None]]:
    import numpy as np

    samples = []
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, skipinitialspace=True):
            if row.get("Usage") and row["Usage"] not in _USAGES[split]:
                continue
            try:
                pixels = np.array(row["pixels"].split(), dtype=np.uint8).reshape(48, 48)
            except (KeyError, ValueError, OverflowError) as error:
                raise RuntimeError(f"{path}: damaged, or not a FER2013 file") from error
            samples.append((pixels, int(row["emotion"]) if row.get("emotion") else None))
    return samples
