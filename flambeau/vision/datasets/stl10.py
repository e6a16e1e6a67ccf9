"""STL-10: a few labelled photographs and many unlabelled ones."""

from __future__ import annotations

import os
from typing import Any

from flambeau.vision._pillow import pillow
from flambeau.vision.datasets.utils import download_and_extract_archive, verify_str_arg
from flambeau.vision.datasets.vision import Transform, VisionDataset, are_whole, missing_error

__all__ = ["STL10"]


class STL10(VisionDataset):
    """Photographs of 96 × 96 pixels (https://cs.stanford.edu/~acoates/stl10/).

    Files are expected in ``root/stl10_binary``. ``folds`` (0 to 9) takes one of the published
    folds of the training images; unlabelled images have the label -1.
    """

    data: Any
    labels: Any
    base_folder = "stl10_binary"
    url = "http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz"
    filename = "stl10_binary.tar.gz"
    tgz_md5 = "91f7769df0f17e558f3565bffb0c7dfb"
    class_names_file = "class_names.txt"
    folds_list_file = "fold_indices.txt"
    train_list: list[list[str]] = [
        ["train_X.bin", "918c2871b30a85fa023e0c44e0bee87f"],
        ["train_y.bin", "5a34089d4802c674881badbb80307741"],
        ["unlabeled_X.bin", "5242ba1fed5e4be9e1e742405eb56ca4"],
    ]
    test_list: list[list[str]] = [
        ["test_X.bin", "7f263ba9f9e0b06b93213547f721ac82"],
        ["test_y.bin", "36f9794fa4beb8a2c72628de14fa638e"],
    ]
    splits: tuple[str, ...] = ("train", "train+unlabeled", "unlabeled", "test")

    def __init__(
        self,
        root: str | os.PathLike[str],
        split: str = "train",
        folds: int | None = None,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.split: str = verify_str_arg(split, "split", self.splits)
        if folds is not None and folds not in range(10):
            raise ValueError(
                f"Value for argument folds should be in the range [0, 10), got {folds}."
            )
        self.folds = folds
        if download:
            self.download()
        if not self._check_integrity():
            raise missing_error(self._fb_files(), "Dataset", self.url)
        self.data, self.labels = self._fb_load()
        names = self._fb_file(self.class_names_file)
        self.classes: list[str] = []
        if os.path.isfile(names):
            with open(names, encoding="utf-8") as file:
                self.classes = file.read().splitlines()

    def _fb_file(self, name: str) -> str:
        return os.path.join(os.fspath(self.root or ""), self.base_folder, name)

    def _fb_files(self) -> list[tuple[str, str | None]]:
        return [(self._fb_file(name), md5) for name, md5 in [*self.train_list, *self.test_list]]

    def _check_integrity(self) -> bool:
        return are_whole(self._fb_files())

    def _fb_load(self) -> tuple[Any, Any]:
        import numpy as np

        parts = []
        if self.split.startswith("train"):
            images, labels = self._fb_labelled("train")
            chosen = self._fb_fold()
            parts.append((images, labels) if chosen is None else (images[chosen], labels[chosen]))
        if self.split.endswith("unlabeled"):
            images = self._fb_images("unlabeled_X.bin")
            parts.append((images, np.full(len(images), -1)))
        if self.split == "test":
            parts.append(self._fb_labelled("test"))
        images, labels = (np.concatenate(each) for each in zip(*parts, strict=True))
        return images, labels

    def _fb_labelled(self, part: str) -> tuple[Any, Any]:
        images, labels = self._fb_images(f"{part}_X.bin"), self._fb_labels(f"{part}_y.bin")
        if len(images) != len(labels):
            raise RuntimeError(
                f"{self._fb_file(f'{part}_X.bin')}: {len(images)} images, but {len(labels)} labels "
                f"in {part}_y.bin"
            )
        return images, labels

    def _fb_images(self, name: str) -> Any:
        import numpy as np

        values = np.fromfile(self._fb_file(name), dtype=np.uint8)
        if values.size % (3 * 96 * 96):
            raise RuntimeError(
                f"{self._fb_file(name)}: damaged, {values.size} bytes are no whole number of "
                "images of 3 × 96 × 96"
            )
        return values.reshape(-1, 3, 96, 96).transpose(0, 1, 3, 2)

    def _fb_labels(self, name: str) -> Any:
        import numpy as np

        return np.fromfile(self._fb_file(name), dtype=np.uint8).astype(np.int64) - 1

    def _fb_fold(self) -> Any:
        import numpy as np

        if self.folds is None:
            return None
        path = self._fb_file(self.folds_list_file)
        try:
            with open(path, encoding="utf-8") as file:
                line = file.read().splitlines()[self.folds]
            return np.array(line.split(), dtype=np.int64)
        except (IndexError, ValueError) as error:
            raise RuntimeError(f"{path}: no numbers of fold {self.folds} in it") from error

    def download(self) -> None:
        """Download and unpack the archive, unless its files are there."""
        if not self._check_integrity():
            root = os.fspath(self.root or ".")
            download_and_extract_archive(self.url, root, filename=self.filename, md5=self.tgz_md5)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        image = pillow().fromarray(self.data[index].transpose(1, 2, 0))
        return self._fb_transformed(image, int(self.labels[index]))

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        return f"Split: {self.split}"
