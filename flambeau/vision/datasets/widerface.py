"""WIDER FACE (http://shuoyang1213.me/WIDERFACE/): faces in photographs of crowds."""

from __future__ import annotations

import os
from typing import Any

import flambeau as fb
from flambeau.vision.datasets._published import PathLike, Resource, prepare, read_lines
from flambeau.vision.datasets.folder import open_image
from flambeau.vision.datasets.utils import verify_str_arg
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["WIDERFace"]

_ATTRIBUTES = ("blur", "expression", "illumination", "occlusion", "pose", "invalid")


class WIDERFace(VisionDataset):
    """Photographs and the faces in each, in ``root/widerface``; ``split`` is train, val or test.

    A target is a dictionary of tensors with a row or a number for each face: ``bbox`` (x, y, width,
    height) and ``blur``, ``expression``, ``illumination``, ``occlusion``, ``pose``, ``invalid``.
    Test images have none (None).
    """

    BASE_FOLDER = "widerface"
    FILE_LIST = [
        (
            "15hGDLhsx8bLgLcIRD5DhYt5iBxnjNF1M",
            "3fedf70df600953d25982bcd13d91ba2",
            "WIDER_train.zip",
        ),
        ("1GUCogbp16PMGa39thoMMeWxp7Rp5oM8Q", "dfa7d7e790efa35df3788964cf0bbaea", "WIDER_val.zip"),
        ("1HIfDbVEWKmsYKJZm4lchTBDLW5N7dY5T", "e5d8f4248ed24c334bbd12f49c29dd40", "WIDER_test.zip"),
    ]
    ANNOTATIONS_FILE = (
        "http://shuoyang1213.me/WIDERFACE/support/bbx_annotation/wider_face_split.zip",
        "0e3767bcf0e326556d407bf5bff5d27c",
        "wider_face_split.zip",
    )

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        folder = os.path.join(os.path.expanduser(os.fspath(root)), self.BASE_FOLDER)
        super().__init__(folder, transform=transform, target_transform=target_transform)
        self.split: str = verify_str_arg(split, "split", ("train", "val", "test"))
        resources = [Resource.drive(*each) for each in self.FILE_LIST]
        resources.append(Resource(*self.ANNOTATIONS_FILE))
        kind = "test_filelist" if split == "test" else f"{split}_bbx_gt"
        listed = f"wider_face_split/wider_face_{kind}.txt"
        prepare(folder, [f"WIDER_{split}", listed], resources, download)
        lines = read_lines(os.path.join(folder, listed))
        images = os.path.join(folder, f"WIDER_{split}", "images")
        self.img_info: list[dict[str, Any]] = (
            [{"img_path": os.path.join(images, name)} for name in lines]
            if split == "test"
            else _annotations(lines, images, os.path.join(folder, listed))
        )

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        info = self.img_info[index]
        image, target = open_image(info["img_path"]), info.get("annotations")
        if target is None:
            return (image if self.transform is None else self.transform(image)), None
        return self._fb_transformed(image, target)

    def __len__(self) -> int:
        return len(self.img_info)

    def extra_repr(self) -> str:
        return f"Split: {self.split}"


def _annotations(lines: list[str], images: str, path: str) -> list[dict[str, Any]]:
    """Parse a name, the number of faces and a line for each; a line of zeros if none."""
    found = []
    at = 0
    while at < len(lines):
        try:
            count = int(lines[at + 1])
            after = at + 2 + max(count, 1)
            rows = [[int(value) for value in line.split()] for line in lines[at + 2 : after]]
            values = fb.tensor(rows, dtype=fb.int64)
            faces: dict[str, Any] = {"bbox": values[:, :4].clone()}
            for column, name in enumerate(_ATTRIBUTES, 4):
                faces[name] = values[:, column].clone()
        except (IndexError, ValueError) as error:
            raise RuntimeError(
                f"Error parsing annotation file {path} at {lines[at]!r}: {error}"
            ) from error
        found.append({"img_path": os.path.join(images, lines[at]), "annotations": faces})
        at = after
    return found
