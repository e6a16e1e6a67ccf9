"""USPS (https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html#usps)."""

from __future__ import annotations

import bz2
import os
from typing import Any

from flambeau.vision._pillow import pillow
from flambeau.vision.datasets._published import PathLike, Resource, prepare
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["USPS"]

_HOME = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/"


class USPS(VisionDataset):
    """9298 handwritten digits from envelopes, 16 × 16 pixels; files are expected in ``root``."""

    data: Any
    targets: list[int]
    split_list: dict[str, list[str]] = {
        "train": [f"{_HOME}usps.bz2", "usps.bz2", "ec16c51db3855ca6c91edd34d0e9b197"],
        "test": [f"{_HOME}usps.t.bz2", "usps.t.bz2", "8ea070ee2aca1ac39742fdd1ef5ed118"],
    }

    def __init__(
        self,
        root: PathLike,
        train: bool = True,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        url, name, md5 = self.split_list["train" if train else "test"]
        folder = os.fspath(self.root or "")
        prepare(folder, [(name, md5)], [Resource(url, md5, name, packed=False)], download)
        self.data, self.targets = _read(os.path.join(folder, name))

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self._fb_transformed(pillow().fromarray(self.data[index]), int(self.targets[index]))

    def __len__(self) -> int:
        return len(self.data)


def _read(path: str) -> tuple[Any, list[int]]:
    """Rows ``label 1:value 2:value …`` with labels from 1 and values from -1 to 1."""
    import numpy as np

    try:
        with bz2.open(path, "rt", encoding="ascii") as file:
            rows = [line.split() for line in file]
        values = [[cell.partition(":")[2] for cell in row[1:]] for row in rows]
        pixels = np.asarray(values, dtype=np.float32).reshape(-1, 16, 16)
        targets = [int(row[0]) - 1 for row in rows]
    except (EOFError, IndexError, OSError, ValueError) as error:
        if isinstance(error, (FileNotFoundError, PermissionError)):
            raise
        raise RuntimeError(f"{path}: damaged, or not a USPS file ({error})") from error
    return ((pixels + 1) / 2 * 255).astype(np.uint8), targets
