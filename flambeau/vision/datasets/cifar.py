"""CIFAR-10 and CIFAR-100: 60 000 photographs of 32 × 32 pixels."""

from __future__ import annotations

import os
from typing import Any

from flambeau.vision._pillow import pillow
from flambeau.vision.datasets._pickled import pixels_of, read_pickle, words_of
from flambeau.vision.datasets.utils import download_and_extract_archive
from flambeau.vision.datasets.vision import Transform, VisionDataset, are_whole, missing_error

__all__ = ["CIFAR10", "CIFAR100"]

_WIDTH = 3 * 32 * 32  # bytes of an image


class CIFAR10(VisionDataset):
    """60,000 photographs of ten classes, 32 × 32 pixels.

    See https://www.cs.toronto.edu/~kriz/cifar.html.

    Files are expected in `root/cifar-10-batches-py`. A sample is a pair of image and label.

    Args:
        root: Directory of the files.
        train: Whether to read the training part, or else the test part. Default: True.
        transform: Transform of an image. Default: None.
        target_transform: Transform of a label. Default: None.
        download: Whether to download files that are missing. Default: False.

    Attributes:
        data: Images, an array (N, 32, 32, 3) of bytes.
        targets: Labels, a list.
        classes: Names of the classes.

    Raises:
        RuntimeError: Files are missing and `download` is False.

    Example:
        >>> from flambeau.vision.datasets import CIFAR10
        >>> CIFAR10.base_folder
        'cifar-10-batches-py'
    """

    data: Any
    targets: list[int]
    base_folder = "cifar-10-batches-py"
    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    filename = "cifar-10-python.tar.gz"
    tgz_md5 = "c58f30108f718f92721af3b95e74349a"
    train_list: list[list[str]] = [
        ["data_batch_1", "c99cafc152244af753f735de768cd75f"],
        ["data_batch_2", "d4bba439e000b95fd0a9bffe97cbabec"],
        ["data_batch_3", "54ebc095f3ab1f0389bbae665268c751"],
        ["data_batch_4", "634d18415352ddfa80567beed471001a"],
        ["data_batch_5", "482c414d41f54cd18b22e5b47cb7c3cb"],
    ]
    test_list: list[list[str]] = [["test_batch", "40351d587109b95175f43aff81a1287e"]]
    meta: dict[str, str] = {
        "filename": "batches.meta",
        "key": "label_names",
        "md5": "5ff9c542aee3614f3951f8cda6e48888",
    }

    def __init__(
        self,
        root: str | os.PathLike[str],
        train: bool = True,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        if not self._check_integrity():
            raise missing_error(self._fb_files(), "Dataset", self.url)
        self.data, self.targets = self._fb_load()
        meta = self._fb_file(self.meta["filename"])
        self.classes: list[str] = words_of(read_pickle(meta), self.meta["key"], meta)
        self.class_to_idx: dict[str, int] = {
            name: number for number, name in enumerate(self.classes)
        }

    def _fb_file(self, name: str) -> str:
        return os.path.join(os.fspath(self.root or ""), self.base_folder, name)

    def _fb_files(self) -> list[tuple[str, str | None]]:
        listed = [*self.train_list, *self.test_list, [self.meta["filename"], self.meta["md5"]]]
        return [(self._fb_file(name), md5) for name, md5 in listed]

    def _check_integrity(self) -> bool:
        return are_whole(self._fb_files())

    def _fb_load(self) -> tuple[Any, list[int]]:
        import numpy as np

        paths = [
            self._fb_file(name) for name, _ in (self.train_list if self.train else self.test_list)
        ]
        # More rows than the files can hold: untouched ones take no memory.
        most = sum(os.path.getsize(path) // _WIDTH for path in paths)
        pixels = np.empty((most, 32 * 32, 3), np.uint8)
        targets: list[int] = []
        for path in paths:
            content = read_pickle(path)
            rows = pixels_of(content, path, _WIDTH)
            labels = content["labels"] if "labels" in content else content.get("fine_labels")
            if not isinstance(labels, list) or len(labels) != len(rows):
                raise RuntimeError(f"{path}: not a CIFAR file (a label for each image expected)")
            place = slice(len(targets), len(targets) + len(rows))
            _write_pixels(rows.reshape(-1, 3, 32 * 32), pixels[place])
            targets += labels
        return pixels[: len(targets)].reshape(-1, 32, 32, 3), targets

    def download(self) -> None:
        """Download and unpack the archive, unless its files are there."""
        if not self._check_integrity():
            download_and_extract_archive(
                self.url, os.fspath(self.root or "."), filename=self.filename, md5=self.tgz_md5
            )

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self._fb_transformed(pillow().fromarray(self.data[index]), self.targets[index])

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        return f"Split: {'Train' if self.train else 'Test'}"


class CIFAR100(CIFAR10):
    """60,000 photographs of a hundred classes, 32 × 32 pixels.

    The arguments and attributes are those of `CIFAR10`; files are expected in
    `root/cifar-100-python`.

    Example:
        >>> from flambeau.vision.datasets import CIFAR100
        >>> CIFAR100.base_folder
        'cifar-100-python'
    """

    base_folder = "cifar-100-python"
    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    filename = "cifar-100-python.tar.gz"
    tgz_md5 = "eb9058c3a382ffc7106e4002c42a8d85"
    train_list: list[list[str]] = [["train", "16019d7e3df5f24257cddd939b257f8d"]]
    test_list: list[list[str]] = [["test", "f0ef6b0ae62326f3e7ffdfab6717acfc"]]
    meta: dict[str, str] = {
        "filename": "meta",
        "key": "fine_label_names",
        "md5": "7973b15100ade9c7d40fb424638fde48",
    }


def _write_pixels(planes: Any, pixels: Any, block: int = 100) -> None:
    """Convert images from planar to interleaved channels, as every epoch reads them.

    Block by block, so that memory written three times stays in the cache.
    """
    for start in range(0, len(planes), block):
        part = slice(start, start + block)
        for color in range(3):
            pixels[part, :, color] = planes[part, color]
