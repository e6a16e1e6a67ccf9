"""CelebA (http://mmlab.ie.cuhk.edu.hk/projects/CelebA.html)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.datasets._published import PathLike, Resource, prepare, targets_of
from flambeau.vision.datasets.folder import open_image
from flambeau.vision.datasets.utils import verify_str_arg
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["CelebA"]

_PARTS = {"train": 0, "valid": 1, "test": 2, "all": None}


class CelebA(VisionDataset):
    """202 599 portraits of famous people, in ``root/celeba``.

    ``split`` is train, valid, test or all. ``target_type`` is one of attr (40 numbers 0 or 1),
    identity, bbox and landmarks, or several of them.
    """

    attr_names: list[str]
    base_folder = "celeba"
    file_list: list[tuple[str, str, str]] = [
        (
            "0B7EVK8r0v71pZjFTYXZWM3FlRnM",
            "00d2c5bc6d35e252742224ab0c1e8fcb",
            "img_align_celeba.zip",
        ),
        (
            "0B7EVK8r0v71pblRyaVFSWGxPY0U",
            "75e246fa4810816ffd6ee81facbd244c",
            "list_attr_celeba.txt",
        ),
        (
            "1_ee_0u7vcNLOfNLegJRHmolfH5ICW-XS",
            "32bd1bd63d3c78cd57e08160ec5ed1e2",
            "identity_CelebA.txt",
        ),
        (
            "0B7EVK8r0v71pbThiMVRxWXZ4dU0",
            "00566efa6fedff7a56946cd1c10f1c16",
            "list_bbox_celeba.txt",
        ),
        (
            "0B7EVK8r0v71pd0FJY3Blby1HUTQ",
            "cc24ecafdb5b50baae59b03474781f8c",
            "list_landmarks_align_celeba.txt",
        ),
        (
            "0B7EVK8r0v71pY0NSMzRuSXJEVkk",
            "d32c9cbf5e040fd4025c592c306e6668",
            "list_eval_partition.txt",
        ),
    ]

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        target_type: str | Sequence[str] = "attr",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.split = split
        self.target_type: list[str] = (
            [target_type] if isinstance(target_type, str) else list(target_type)
        )
        if not self.target_type and target_transform is not None:
            raise RuntimeError("target_transform is specified but target_type is empty")
        chosen = _PARTS[verify_str_arg(split.lower(), "split", _PARTS)]
        needed = [(name, md5) for _, md5, name in self.file_list if not name.endswith(".zip")]
        resources = [Resource.drive(*each) for each in self.file_list]
        prepare(self._fb_file(""), ["img_align_celeba", *needed], resources, download)
        names, parts, _ = _table(self._fb_file("list_eval_partition.txt"))
        part = parts.squeeze(1)
        keep = fb.ones_like(part, dtype=fb.bool) if chosen is None else part == chosen
        self.filename: list[str] = [
            name for name, kept in zip(names, keep.tolist(), strict=True) if kept
        ]
        self.identity: Tensor = self._fb_rows("identity_CelebA.txt", keep)[0]
        self.bbox: Tensor = self._fb_rows("list_bbox_celeba.txt", keep, header=1)[0]
        self.landmarks_align: Tensor = self._fb_rows(
            "list_landmarks_align_celeba.txt", keep, header=1
        )[0]
        signs, self.attr_names = self._fb_rows("list_attr_celeba.txt", keep, header=1)
        self.attr: Tensor = (signs + 1) // 2  # in the file -1 stands for no

    def _fb_file(self, name: str) -> str:
        return os.path.join(os.fspath(self.root or ""), self.base_folder, name)

    def _fb_rows(
        self, name: str, keep: Tensor, header: int | None = None
    ) -> tuple[Tensor, list[str]]:
        names, values, columns = _table(self._fb_file(name), header)
        if len(names) != len(keep):
            raise RuntimeError(
                f"{self._fb_file(name)}: {len(names)} rows, but list_eval_partition.txt has "
                f"{len(keep)}"
            )
        return values[keep], columns

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        image = open_image(self._fb_file(os.path.join("img_align_celeba", self.filename[index])))
        target = targets_of(self.target_type, lambda kind: self._fb_target(kind, index))
        return (
            self._fb_transformed(image, target)
            if target is not None
            else (
                self.transform(image) if self.transform is not None else image,
                None,
            )
        )

    def _fb_target(self, kind: str, index: int) -> Any:
        if kind == "identity":
            return self.identity[index, 0]
        tables = {"attr": self.attr, "bbox": self.bbox, "landmarks": self.landmarks_align}
        if kind not in tables:
            raise ValueError(f'Target type "{kind}" is not recognized.')
        return tables[kind][index]

    def __len__(self) -> int:
        return len(self.attr)

    def extra_repr(self) -> str:
        return f"Target type: {self.target_type}\nSplit: {self.split}"


def _table(path: str, header: int | None = None) -> tuple[list[str], Tensor, list[str]]:
    """Return the first column of a table, the numbers in the others, and their names."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    columns = [] if header is None else lines[header].split(" ")
    rows = [line.split() for line in lines[0 if header is None else header + 1 :] if line.strip()]
    try:
        values = fb.tensor([[int(value) for value in row[1:]] for row in rows], dtype=fb.int64)
    except ValueError as error:
        raise RuntimeError(f"{path}: not a table of whole numbers ({error})") from error
    return [row[0] for row in rows], values, columns
