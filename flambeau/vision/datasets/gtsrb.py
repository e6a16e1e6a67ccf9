"""German traffic signs (https://benchmark.ini.rub.de/)."""

from __future__ import annotations

import csv

from flambeau.vision.datasets._published import Resource, SplitImages, prepare, reading
from flambeau.vision.datasets.folder import find_classes, make_dataset

__all__ = ["GTSRB"]

_HOME = "https://sid.erda.dk/public/archives/daaeac0d7ce1152aea9b61d9f1e19370/"
_TRAINING = Resource(f"{_HOME}GTSRB-Training_fixed.zip", "513f3c79a4c5141765e10e952eaa2478")
_TEST = [
    Resource(f"{_HOME}GTSRB_Final_Test_Images.zip", "c7e4e6327067d32654124b0fe9e82185"),
    Resource(f"{_HOME}GTSRB_Final_Test_GT.zip", "fe31e9c9270bbcd7b84b7f21a9d9d9e5"),
]


class GTSRB(SplitImages):
    """Photographs of 43 kinds of traffic signs, in ``root/gtsrb``; ``split`` is train or test."""

    def _fb_load(self, download: bool) -> None:
        folder = self._fb_below("gtsrb")
        if self._split == "train":
            images = f"{folder}/GTSRB/Training"
            prepare(folder, ["GTSRB/Training"], [_TRAINING], download)
            self._fb_take(make_dataset(images, find_classes(images)[1], extensions=(".ppm",)))
            return
        images, labels = f"{folder}/GTSRB/Final_Test/Images", f"{folder}/GT-final_test.csv"
        prepare(folder, ["GTSRB/Final_Test/Images", "GT-final_test.csv"], _TEST, download)
        with open(labels, newline="", encoding="utf-8") as file, reading(labels):
            rows = csv.DictReader(file, delimiter=";")
            self._fb_take((f"{images}/{row['Filename']}", int(row["ClassId"])) for row in rows)

    def extra_repr(self) -> str:
        return ""
