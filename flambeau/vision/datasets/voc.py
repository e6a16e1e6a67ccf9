"""Pascal VOC (http://host.robots.ox.ac.uk/pascal/VOC/), 2007 to 2012."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from flambeau.vision.datasets._published import PathLike, Resource, prepare, read_lines
from flambeau.vision.datasets.folder import open_image, pil_loader
from flambeau.vision.datasets.utils import verify_str_arg
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["VOCDetection", "VOCSegmentation"]

_HOME = "https://thor.robots.ox.ac.uk/pascal/VOC/"
# Of each year: the archive, its MD5 sum, and the folder it unpacks to.
_YEARS = {
    "2012": ("trainval_11-May-2012", "6cd6e144f989b92b3379bac3b3de84fd", "VOCdevkit/VOC2012"),
    "2011": (
        "trainval_25-May-2011",
        "6c3384ef61512963050cb5d687e5bf1e",
        "TrainVal/VOCdevkit/VOC2011",
    ),
    "2010": ("trainval_03-May-2010", "da459979d0c395079b5c75ee67908abb", "VOCdevkit/VOC2010"),
    "2009": ("trainval_11-May-2009", "a3e00b113cfcfebf17e343f59da3caa1", "VOCdevkit/VOC2009"),
    "2008": ("trainval_14-Jul-2008", "2629fa636546599198acfcfbfcf1904a", "VOCdevkit/VOC2008"),
    "2007": ("trainval_06-Nov-2007", "c52e279531787c972589f7e41ab4ae64", "VOCdevkit/VOC2007"),
    "2007-test": ("test_06-Nov-2007", "b6e924de25625d8de591ea690078ad9f", "VOCdevkit/VOC2007"),
}


class _VOC(VisionDataset):
    """Images of a year, each with a file that describes it."""

    filename: str
    md5: str
    _SPLITS_DIR: str
    _TARGET_DIR: str
    _TARGET_FILE_EXT: str

    def __init__(
        self,
        root: PathLike,
        year: str = "2012",
        image_set: str = "train",
        download: bool = False,
        transform: Transform = None,
        target_transform: Transform = None,
        transforms: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(root, transforms, transform, target_transform)
        self.year: str = verify_str_arg(year, "year", [key for key in _YEARS if "-" not in key])
        sets = ["train", "trainval", "val", *(["test"] if year == "2007" else [])]
        self.image_set: str = verify_str_arg(image_set, "image_set", sets)
        name, md5, place = _YEARS["2007-test" if (year, image_set) == ("2007", "test") else year]
        home = os.fspath(self.root or "")
        # The test images of 2007 are unpacked beside the others: the list tells them apart.
        listed = f"{place}/ImageSets/{self._SPLITS_DIR}/{image_set}.txt"
        self.filename, self.md5 = f"VOC{name}.tar", md5
        self.url: str = f"{_HOME}voc{year}/{self.filename}"
        prepare(home, [listed], [Resource(self.url, md5)], download)
        folder = os.path.join(home, *place.split("/"))
        names = read_lines(os.path.join(home, listed))
        self.images: list[str] = [
            os.path.join(folder, "JPEGImages", f"{each}.jpg") for each in names
        ]
        self.targets: list[str] = [
            os.path.join(folder, self._TARGET_DIR, f"{each}{self._TARGET_FILE_EXT}")
            for each in names
        ]

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> Any:
        target = self._fb_read_target(self.targets[index])
        return self._fb_transformed_together(pil_loader(self.images[index]), target)

    def _fb_read_target(self, path: str) -> Any:
        raise NotImplementedError


class VOCSegmentation(_VOC):
    """Photographs and the class of each pixel, in ``root/VOCdevkit``.

    ``image_set`` is train, val or trainval, in 2007 also test. The target is an image with a
    palette, 255 at borders.
    """

    _SPLITS_DIR = "Segmentation"
    _TARGET_DIR = "SegmentationClass"
    _TARGET_FILE_EXT = ".png"

    @property
    def masks(self) -> list[str]:
        """The files of the targets."""
        return self.targets

    def _fb_read_target(self, path: str) -> Any:
        return open_image(path)


class VOCDetection(_VOC):
    """Photographs and the objects in each, in ``root/VOCdevkit``.

    ``image_set`` is train, val or trainval, in 2007 also test. The target is the file as a
    dictionary; its ``object`` is a list.
    """

    _SPLITS_DIR = "Main"
    _TARGET_DIR = "Annotations"
    _TARGET_FILE_EXT = ".xml"

    @property
    def annotations(self) -> list[str]:
        """The files of the targets."""
        return self.targets

    def _fb_read_target(self, path: str) -> Any:
        try:
            return self.parse_voc_xml(ElementTree.parse(path).getroot())
        except ElementTree.ParseError as error:
            raise RuntimeError(f"{path}: damaged, or no XML ({error})") from error

    @staticmethod
    def parse_voc_xml(node: ElementTree.Element) -> dict[str, Any]:
        """Return an XML node as a dictionary: text, or child nodes, in a list if several."""
        children: dict[str, list[Any]] = {}
        for child in node:
            for name, value in VOCDetection.parse_voc_xml(child).items():
                children.setdefault(name, []).append(value)
        if not children and node.tag != "annotation":
            return {node.tag: node.text.strip()} if node.text else {}
        single = {
            name: values[0] if len(values) == 1 else values for name, values in children.items()
        }
        if node.tag == "annotation":
            single["object"] = children.get("object", [])
        return {node.tag: single}
