"""PatchCamelyon (https://github.com/basveeling/pcam): patches of lymph nodes."""

from __future__ import annotations

import importlib
import os
from typing import Any

from flambeau.vision._pillow import pillow
from flambeau.vision.datasets._published import PathLike, Resource, prepare
from flambeau.vision.datasets.utils import verify_str_arg
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["PCAM"]

_STEM = "camelyonpatch_level_2_split"


class PCAM(VisionDataset):
    """327 680 patches of 96 × 96 pixels, labelled 1 for tumour, in ``root/pcam``.

    ``split`` is train, test or val. The package h5py reads the files.
    """

    _FILES = {
        "train": {
            "images": (
                f"{_STEM}_train_x.h5",
                "1Ka0XfEMiwgCYPdTI-vv6eUElOBnKFKQ2",
                "1571f514728f59376b705fc836ff4b63",
            ),
            "targets": (
                f"{_STEM}_train_y.h5",
                "1269yhu3pZDP8UYFQs-NYs3FPwuK-nGSG",
                "35c2d7259d906cfc8143347bb8e05be7",
            ),
        },
        "test": {
            "images": (
                f"{_STEM}_test_x.h5",
                "1qV65ZqZvWzuIVthK8eVDhIwrbnsJdbg_",
                "d8c2d60d490dbd479f8199bdfa0cf6ec",
            ),
            "targets": (
                f"{_STEM}_test_y.h5",
                "17BHrSrwWKjYsOgTMmoqrIjDy6Fa2o_gP",
                "60a7035772fbdb7f34eb86d4420cf66a",
            ),
        },
        "val": {
            "images": (
                f"{_STEM}_valid_x.h5",
                "1hgshYGWK8V-eGRy8LToWJJgDU_rXWVJ3",
                "d5b63470df7cfa627aeec8b9dc0c066e",
            ),
            "targets": (
                f"{_STEM}_valid_y.h5",
                "1bH8ZRbhSVAhScTS0p9-ZzGnX91cHT3uO",
                "2b85f58b927af9964a4c15b8f7e8f179",
            ),
        },
    }

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self._split: str = verify_str_arg(split, "split", ("train", "test", "val"))
        folder = os.path.join(os.fspath(self.root or ""), "pcam")
        files = self._FILES[split]
        self._fb_paths = {kind: os.path.join(folder, file[0]) for kind, file in files.items()}
        # The published files are compressed, and the MD5 sums are of the compressed files.
        resources = [
            Resource.drive(number, md5, f"{name}.gz") for name, number, md5 in files.values()
        ]
        prepare(folder, [file[0] for file in files.values()], resources, download)
        with _opened(self._fb_paths["images"]) as file:
            self._fb_length = int(file["x"].shape[0])

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        # Opened each time: loader workers must not share an open file.
        with _opened(self._fb_paths["images"]) as file:
            image = pillow().fromarray(file["x"][index]).convert("RGB")
        with _opened(self._fb_paths["targets"]) as file:
            target = int(file["y"][index, 0, 0, 0])
        return self._fb_transformed(image, target)

    def __len__(self) -> int:
        return self._fb_length


def _opened(path: str) -> Any:
    try:
        h5py = importlib.import_module("h5py")
    except ImportError as error:
        raise ImportError(f"h5py is needed to read {path}: pip install h5py") from error
    try:
        return h5py.File(path)
    except OSError as error:
        raise RuntimeError(f"{path}: damaged, or not an HDF5 file ({error})") from error
