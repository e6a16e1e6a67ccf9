"""The Semantic Boundaries Dataset (http://home.bharathh.info/pubs/codes/SBD/)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import Any

from flambeau.vision._pillow import pillow
from flambeau.vision.datasets._matlab import read_matlab
from flambeau.vision.datasets._published import PathLike, Resource, bring, prepare, read_lines
from flambeau.vision.datasets.folder import pil_loader
from flambeau.vision.datasets.utils import verify_str_arg
from flambeau.vision.datasets.vision import VisionDataset

__all__ = ["SBDataset"]


class SBDataset(VisionDataset):
    """Photographs of VOC 2011 with boundaries or classes of pixels, in ``root``.

    ``image_set`` is train, val or train_noval, which has no image of VOC 2012's val. ``mode`` is
    boundaries, an array (20, H, W), or segmentation, an image. SciPy reads them.
    """

    url = (
        "https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/semantic_contours/"
        "benchmark.tgz"
    )
    md5 = "82b4d87ceb2ed10f6038a1cba92111cb"
    filename = "benchmark.tgz"
    voc_train_url = "https://www.cs.cornell.edu/~bharathh/train_noval.txt"
    voc_split_filename = "train_noval.txt"
    voc_split_md5 = "79bff800c5f0b1ec6b21080a3c066722"
    num_classes = 20

    def __init__(
        self,
        root: PathLike,
        image_set: str = "train",
        mode: str = "boundaries",
        download: bool = False,
        transforms: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(root, transforms)
        known = ("train", "val", "train_noval")
        self.image_set: str = verify_str_arg(image_set, "image_set", known)
        self.mode: str = verify_str_arg(mode, "mode", ("segmentation", "boundaries"))
        home = os.fspath(self.root or "")
        if download:
            self._fb_download(home)
        prepare(home, ["img", "cls", f"{image_set}.txt"], [Resource(self.url, self.md5)])
        names = read_lines(os.path.join(home, f"{image_set}.txt"))
        self.images: list[str] = [os.path.join(home, "img", f"{name}.jpg") for name in names]
        self.masks: list[str] = [os.path.join(home, "cls", f"{name}.mat") for name in names]

    def _fb_download(self, home: str) -> None:
        extra = Resource(self.voc_train_url, self.voc_split_md5, packed=False)
        if not os.path.isdir(os.path.join(home, "cls")):
            bring(Resource(self.url, self.md5, self.filename), home)
            inner = os.path.join(home, "benchmark_RELEASE", "dataset")
            # The folder that is checked first is moved last: with it the data set is complete.
            for name in sorted(os.listdir(inner), key=lambda name: name == "cls"):
                os.replace(os.path.join(inner, name), os.path.join(home, name))
            shutil.rmtree(os.path.join(home, "benchmark_RELEASE"))
        bring(extra, home)

    def __getitem__(self, index: int) -> Any:
        image = pil_loader(self.images[index])
        (classes,) = read_matlab(self.masks[index], "GTcls")
        if self.mode == "segmentation":
            target = pillow().fromarray(classes[0]["Segmentation"][0])
        else:
            target = self._fb_boundaries(classes[0]["Boundaries"][0])
        return self._fb_transformed_together(image, target)

    def _fb_boundaries(self, sparse: Any) -> Any:
        import numpy as np

        return np.stack([sparse[number][0].toarray() for number in range(self.num_classes)])

    def __len__(self) -> int:
        return len(self.images)

    def extra_repr(self) -> str:
        return f"Image set: {self.image_set}\nMode: {self.mode}"
