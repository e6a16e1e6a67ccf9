"""Published data sets against torchvision: the same samples from the same files."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from PIL import Image

from flambeau.vision import datasets as ours
from tests.conformance import vision_oracle
from tests.vision.published import LAYOUTS

# torchvision leaves files open and calls what Pillow is about to drop.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:.*getdata is deprecated:DeprecationWarning"),
]
theirs = vision_oracle.load("datasets")
PACKAGES = (theirs, ours)


def _plain(value: Any) -> Any:
    """A value as lists, numbers and text, so that those of two packages can be compared."""
    if isinstance(value, Image.Image):
        return value.mode, value.getpalette(), np.asarray(value).tolist()
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if hasattr(value, "tolist"):
        return str(value.dtype).split(".")[-1], value.tolist()
    return value


# A layout, and the calls that read it.
CALLS: dict[str, list[str]] = {
    "food101": ["Food101(root)", "Food101(root, 'test')"],
    "flowers102": [f"Flowers102(root, '{split}')" for split in ("train", "val", "test")],
    "dtd": ["DTD(root)", "DTD(root, 'val', 2)", "DTD(root, split='test', partition=2)"],
    "fgvc_aircraft": [
        "FGVCAircraft(root)",
        "FGVCAircraft(root, 'test', 'family')",
        "FGVCAircraft(root, 'val', 'manufacturer')",
    ],
    "rendered_sst2": ["RenderedSST2(root)", "RenderedSST2(root, 'val')"],
    "clevr": ["CLEVRClassification(root)", "CLEVRClassification(root, 'test')"],
    "country211": ["Country211(root)", "Country211(root, 'valid')"],
    "eurosat": ["EuroSAT(root)"],
    "gtsrb": ["GTSRB(root)", "GTSRB(root, 'test')"],
    "stanford_cars": ["StanfordCars(root)", "StanfordCars(root, 'test')"],
    "sun397": ["SUN397(root)"],
    "imagenette": ["Imagenette(root)", "Imagenette(root, 'val', '160px')"],
    "oxford_iiit_pet": [
        "OxfordIIITPet(root)",
        "OxfordIIITPet(root, 'test', ['segmentation', 'binary-category', 'category'])",
        "OxfordIIITPet(root, target_types=[])",
    ],
    "caltech101": ["Caltech101(root)", "Caltech101(root, ['annotation', 'category'])"],
    "caltech256": ["Caltech256(root)"],
    "celeba": [
        "CelebA(root)",
        "CelebA(root, 'train', ['attr', 'identity', 'bbox', 'landmarks'])",
        "CelebA(root, 'test', 'identity')",
        "CelebA(root, 'all', [])",
    ],
    "voc": [
        "VOCSegmentation(root)",
        "VOCSegmentation(root, '2011', 'val')",
        "VOCDetection(root, image_set='trainval')",
        "VOCDetection(root, '2007', 'test')",
    ],
    "usps": ["USPS(root)", "USPS(root, False)"],
    "semeion": ["SEMEION(root, download=False)"],
    "omniglot": ["Omniglot(root)", "Omniglot(root, False)"],
    "imagenet": ["ImageNet(root, 'val')", "ImageNet(root)"],
    "places365": [
        "Places365(root)",
        "Places365(root, 'train-challenge', True)",
        "Places365(root, 'val')",
        "Places365(root, 'test', small=True)",
    ],
    "kitti": ["Kitti(root)", "Kitti(root, train=False)"],
    "widerface": ["WIDERFace(root)", "WIDERFace(root, 'val')", "WIDERFace(root, 'test')"],
    "cityscapes": [
        "Cityscapes(root)",
        "Cityscapes(root, 'test', target_type=['semantic', 'polygon', 'color'])",
        "Cityscapes(root, 'train_extra', 'coarse', 'polygon')",
    ],
    "sbd": ["SBDataset(root)", "SBDataset(root, 'val', 'segmentation')"],
    "lfw": [
        "LFWPeople(root)",
        "LFWPeople(root, 'test', 'original')",
        "LFWPairs(root)",
        "LFWPairs(root, 'train', 'deepfunneled')",
    ],
    "fer2013": ["FER2013(root)", "FER2013(root, 'test')"],
    "fer2013_whole": ["FER2013(root)", "FER2013(root, 'test')"],
    "fer2013_icml": ["FER2013(root)", "FER2013(root, 'test')"],
    "moving_mnist": [
        "MovingMNIST(root)",
        "MovingMNIST(root, 'train', 12)",
        "MovingMNIST(root, 'test', split_ratio=3)",
    ],
    "phototour": ["PhotoTour(root, 'liberty')", "PhotoTour(root, 'liberty', train=False)"],
    "flickr8k": ["Flickr8k(root / 'images', str(root / 'page.html'))"],
    "flickr30k": ["Flickr30k(root / 'images', str(root / 'captions.token'))"],
    "inaturalist": [
        "INaturalist(root)",
        "INaturalist(root, '2021_valid', ['genus', 'full', 'order'])",
        "INaturalist(root, '2017', 'super')",
        "INaturalist(root, '2018', ['full', 'super'])",
    ],
    "sbu": ["SBU(root, download=False)"],
    "sintel": ["Sintel(root)", "Sintel(root, 'train', 'both')", "Sintel(root, 'test', 'final')"],
    "kitti_flow": ["KittiFlow(root, 'test')"],
    "hd1k": ["HD1K(root, 'test')"],
    "flying_chairs": ["FlyingChairs(root)", "FlyingChairs(root, 'val')"],
    "flying_things": [
        "FlyingThings3D(root)",
        "FlyingThings3D(root, 'test', 'both', 'both')",
        "FlyingThings3D(root, camera='right', pass_name='final')",
    ],
    "carla": ["CarlaStereo(root)"],
    "kitti2012": ["Kitti2012Stereo(root)", "Kitti2012Stereo(root, 'test')"],
    "kitti2015": ["Kitti2015Stereo(root)", "Kitti2015Stereo(root, 'test')"],
    "crestereo": ["CREStereo(root)"],
    "falling_things": ["FallingThingsStereo(root)", "FallingThingsStereo(root, 'both')"],
    "scene_flow": [
        "SceneFlowStereo(root)",
        "SceneFlowStereo(root, 'Monkaa', 'both')",
        "SceneFlowStereo(root, 'Driving', 'final')",
    ],
    "sintel_stereo": ["SintelStereo(root)", "SintelStereo(root, 'both')"],
    "instereo2k": ["InStereo2k(root)", "InStereo2k(root, 'test')"],
    "eth3d": ["ETH3DStereo(root)", "ETH3DStereo(root, 'test')"],
    "middlebury": [
        "Middlebury2014Stereo(root)",
        "Middlebury2014Stereo(root, 'train', 'both')",
        "Middlebury2014Stereo(root, 'additional')",
        "Middlebury2014Stereo(root, 'test', None)",
    ],
}
# Attributes that programs read.
ATTRIBUTES = {
    *("classes", "class_to_idx", "wnids", "wnid_to_idx", "imgs", "targets", "samples", "images"),
    *("masks", "annotations", "photos", "captions", "ids", "data", "labels", "categories"),
    *("annotation_categories", "index", "y", "attr_names", "filename", "identity", "bbox", "attr"),
    *("landmarks_align", "bin_classes", "bin_class_to_idx", "all_categories", "categories_index"),
    *("categories_map", "img_info", "mean", "std", "pair_names", "split", "mode", "_labels"),
}


@pytest.fixture(autouse=True)
def without_sums() -> Any:
    """The files are not the published ones."""
    with (
        mock.patch("flambeau.vision.datasets.utils.check_md5", return_value=True),
        mock.patch("torchvision.datasets.utils.check_md5", return_value=True),
    ):
        yield


def _attributes(data: Any) -> dict[str, Any]:
    found = {}
    for name in ATTRIBUTES:
        value = getattr(data, name, None)
        if value is not None and not inspect.ismethod(value):
            found[name] = _plain(value)
    return found


@pytest.mark.parametrize(
    ("name", "call"), [(name, call) for name, calls in CALLS.items() for call in calls]
)
def test_samples(name: str, call: str, tmp_path: Path) -> None:
    LAYOUTS[name](tmp_path)
    made = [eval(f"package.{call}", {"package": each, "root": tmp_path}) for each in PACKAGES]
    expected, got = ([_plain(data[at]) for at in range(len(data))] for data in made)
    assert len(made[1]) == len(made[0]) > 0
    if name == "sun397":  # torchvision lists files in the order of the system
        expected, got = sorted(expected, key=str), sorted(got, key=str)
    assert got == expected
    assert repr(made[1]) == repr(made[0])
    attributes = [_attributes(data) for data in made]
    for key, value in attributes[0].items():
        assert attributes[1].get(key) == value, key


def test_signatures() -> None:
    for name in set(theirs.__all__) & set(ours.__all__) - set(ours._UNAVAILABLE):
        mine, other = getattr(ours, name), getattr(theirs, name)
        expected = list(_parameters(other))
        assert [each for each in _parameters(mine) if each in expected] == expected, name


def _parameters(function: Callable[..., Any]) -> list[str]:
    return [
        name
        for name, each in inspect.signature(function).parameters.items()
        if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
