"""Moving MNIST (http://www.cs.toronto.edu/~nitish/unsupervised_video/)."""

from __future__ import annotations

import os
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.datasets._published import PathLike, Resource, prepare
from flambeau.vision.datasets.utils import verify_str_arg
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["MovingMNIST"]


class MovingMNIST(VisionDataset):
    """10 000 videos of two moving digits, 20 frames of 64 × 64 pixels, in ``root/MovingMNIST``.

    ``split`` train takes the first ``split_ratio`` frames of each, test the others, None all. A
    sample is a tensor (frames, 1, 64, 64).
    """

    _URL = "http://www.cs.toronto.edu/~nitish/unsupervised_video/mnist_test_seq.npy"
    _fb_MD5 = "be083ec986bfe91a449d63653c411eb2"

    def __init__(
        self,
        root: PathLike,
        split: str | None = None,
        split_ratio: int = 10,
        download: bool = False,
        transform: Transform = None,
    ) -> None:
        super().__init__(root, transform=transform)
        if split is not None:
            verify_str_arg(split, "split", ("train", "test"))
        if not isinstance(split_ratio, int):
            raise TypeError(f"`split_ratio` should be an integer, but got {type(split_ratio)}")
        if not 1 <= split_ratio <= 19:
            raise ValueError(
                f"`split_ratio` should be `1 <= split_ratio <= 19`, but got {split_ratio} instead."
            )
        self.split = split
        self.split_ratio = split_ratio
        folder = os.path.join(os.fspath(self.root or ""), "MovingMNIST")
        source = Resource(self._URL, self._fb_MD5, packed=False)
        prepare(folder, ["mnist_test_seq.npy"], [source], download)
        videos = _read(os.path.join(folder, "mnist_test_seq.npy"))
        parts = {"train": slice(split_ratio), "test": slice(split_ratio, None), None: slice(None)}
        self.data: Tensor = (
            fb.from_numpy(videos[parts[split]]).transpose(0, 1).unsqueeze(2).contiguous()
        )

    def __getitem__(self, index: int) -> Any:
        video = self.data[index]
        return video if self.transform is None else self.transform(video)

    def __len__(self) -> int:
        return len(self.data)


def _read(path: str) -> Any:
    import numpy as np

    try:
        videos = np.load(path, allow_pickle=False)
    except (EOFError, ValueError) as error:
        raise RuntimeError(f"{path}: damaged, or not an array of NumPy ({error})") from error
    if videos.ndim != 4 or videos.dtype != np.uint8:
        raise RuntimeError(f"{path}: bytes (frames, videos, 64, 64) expected, got {videos.shape}")
    return videos
