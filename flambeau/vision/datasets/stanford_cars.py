"""Stanford Cars, which can no longer be downloaded; local copies are read."""

from __future__ import annotations

from flambeau.vision.datasets._matlab import read_matlab
from flambeau.vision.datasets._published import SplitImages, prepare

__all__ = ["StanfordCars"]

_FILES = {
    "train": ("devkit/cars_train_annos.mat", "cars_train"),
    "test": ("cars_test_annos_withlabels.mat", "cars_test"),
}


class StanfordCars(SplitImages):
    """16 185 photographs of 196 car models, in ``root/stanford_cars``; ``split`` is train or test.

    SciPy reads the labels.
    """

    def _fb_load(self, download: bool) -> None:
        if download:
            raise ValueError(
                "StanfordCars is not published any more and cannot be downloaded: put the files "
                f"into {self._fb_below('stanford_cars')}"
            )
        folder = self._fb_below("stanford_cars")
        labels, images = _FILES[self._split]
        prepare(folder, ["devkit", labels, images])
        (names,) = read_matlab(f"{folder}/devkit/cars_meta.mat", "class_names", squeeze_me=True)
        (rows,) = read_matlab(f"{folder}/{labels}", "annotations", squeeze_me=True)
        self._fb_name_classes(names.tolist())
        # The classes are counted from 1.
        self._fb_take((f"{folder}/{images}/{row['fname']}", int(row["class"]) - 1) for row in rows)

    def extra_repr(self) -> str:
        return ""
