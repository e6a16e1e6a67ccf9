"""SEMEION (https://archive.ics.uci.edu/dataset/178/semeion+handwritten+digit)."""

from __future__ import annotations

import os
from typing import Any

from flambeau.vision._pillow import pillow
from flambeau.vision.datasets._published import PathLike, Resource, prepare
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["SEMEION"]


class SEMEION(VisionDataset):
    """1593 handwritten digits of 16 × 16 black or white pixels; the file is in ``root``."""

    data: Any
    labels: Any
    url = "http://archive.ics.uci.edu/ml/machine-learning-databases/semeion/semeion.data"
    filename = "semeion.data"
    md5_checksum = "cb545d371d2ce14ec121470795a77432"

    def __init__(
        self,
        root: PathLike,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = True,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        folder = os.fspath(self.root or "")
        source = Resource(self.url, self.md5_checksum, self.filename, packed=False)
        prepare(folder, [(self.filename, self.md5_checksum)], [source], download)
        self.data, self.labels = _read(os.path.join(folder, self.filename))

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self._fb_transformed(pillow().fromarray(self.data[index]), int(self.labels[index]))

    def __len__(self) -> int:
        return len(self.data)


def _read(path: str) -> tuple[Any, Any]:
    """Rows of 256 pixels, 0 or 1, and the one-hot label of the digit."""
    import numpy as np

    try:
        rows = np.loadtxt(path, ndmin=2)
        pixels = rows[:, :256].reshape(-1, 16, 16)
        digits, labels = np.nonzero(rows[:, 256:])
        if len(digits) != len(rows):
            raise ValueError(f"{len(rows)} digits have {len(digits)} labels")
    except ValueError as error:
        raise RuntimeError(f"{path}: damaged, or not a SEMEION file ({error})") from error
    return (pixels * 255).astype(np.uint8), labels
