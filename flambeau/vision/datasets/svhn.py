"""The Street View House Numbers (http://ufldl.stanford.edu/housenumbers/)."""

from __future__ import annotations

import os
from typing import Any

from flambeau.vision._pillow import pillow
from flambeau.vision.datasets._matlab import read_matlab
from flambeau.vision.datasets.utils import check_integrity, download_url, verify_str_arg
from flambeau.vision.datasets.vision import Transform, VisionDataset, missing_error

__all__ = ["SVHN"]


class SVHN(VisionDataset):
    """600 000 digits of house numbers, 32 × 32 pixels; files are expected in ``root``.

    The files are MATLAB's, which SciPy reads. ``data`` is an array (N, 3, 32, 32).
    """

    url: str
    filename: str
    file_md5: str
    data: Any
    labels: Any
    split_list: dict[str, list[str]] = {
        "train": [
            "http://ufldl.stanford.edu/housenumbers/train_32x32.mat",
            "train_32x32.mat",
            "e26dedcc434d2e4c54c9b2d4a06d8373",
        ],
        "test": [
            "http://ufldl.stanford.edu/housenumbers/test_32x32.mat",
            "test_32x32.mat",
            "eb5a983be6a315427106f1b164d9cef3",
        ],
        "extra": [
            "http://ufldl.stanford.edu/housenumbers/extra_32x32.mat",
            "extra_32x32.mat",
            "a93ce644f1a588dc4d68dda5feec44a7",
        ],
    }

    def __init__(
        self,
        root: str | os.PathLike[str],
        split: str = "train",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.split: str = verify_str_arg(split, "split", self.split_list)
        self.url, self.filename, self.file_md5 = self.split_list[split]
        if download:
            self.download()
        path = os.path.join(os.fspath(self.root or ""), self.filename)
        if not check_integrity(path, self.file_md5):
            raise missing_error([(path, self.file_md5)], "Dataset", self.url)
        self.data, self.labels = _read(path)

    def download(self) -> None:
        """Download the file of this split unless it is there."""
        download_url(self.url, os.fspath(self.root or "."), self.filename, self.file_md5)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        image = pillow().fromarray(self.data[index].transpose(1, 2, 0))
        return self._fb_transformed(image, int(self.labels[index]))

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        return f"Split: {self.split.title()}"


def _read(path: str) -> tuple[Any, Any]:
    pixels, labels = read_matlab(path, "X", "y")
    labels = labels.astype("int64").squeeze(1)
    if pixels.shape[:3] != (32, 32, 3) or pixels.shape[3] != len(labels):
        raise RuntimeError(
            f"{path}: images of shape {pixels.shape} and {len(labels)} labels are not those of SVHN"
        )
    labels[labels == 10] = 0  # the file counts from 1 and has the digit 0 last
    return pixels.transpose(3, 2, 0, 1), labels
