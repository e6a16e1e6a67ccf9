"""Data sets of images, from local files or fetched once."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from flambeau.vision.datasets._unavailable import unavailable as _unavailable

if TYPE_CHECKING:
    from flambeau.datasets import Digits as Digits
    from flambeau.vision.datasets._optical_flow import HD1K as HD1K
    from flambeau.vision.datasets._optical_flow import FlyingChairs as FlyingChairs
    from flambeau.vision.datasets._optical_flow import FlyingThings3D as FlyingThings3D
    from flambeau.vision.datasets._optical_flow import KittiFlow as KittiFlow
    from flambeau.vision.datasets._optical_flow import Sintel as Sintel
    from flambeau.vision.datasets._stereo_matching import CarlaStereo as CarlaStereo
    from flambeau.vision.datasets._stereo_matching import CREStereo as CREStereo
    from flambeau.vision.datasets._stereo_matching import ETH3DStereo as ETH3DStereo
    from flambeau.vision.datasets._stereo_matching import FallingThingsStereo as FallingThingsStereo
    from flambeau.vision.datasets._stereo_matching import InStereo2k as InStereo2k
    from flambeau.vision.datasets._stereo_matching import Kitti2012Stereo as Kitti2012Stereo
    from flambeau.vision.datasets._stereo_matching import Kitti2015Stereo as Kitti2015Stereo
    from flambeau.vision.datasets._stereo_matching import (
        Middlebury2014Stereo as Middlebury2014Stereo,
    )
    from flambeau.vision.datasets._stereo_matching import SceneFlowStereo as SceneFlowStereo
    from flambeau.vision.datasets._stereo_matching import SintelStereo as SintelStereo
    from flambeau.vision.datasets._wrapped import (
        wrap_dataset_for_transforms_v2 as wrap_dataset_for_transforms_v2,
    )
    from flambeau.vision.datasets.caltech import Caltech101 as Caltech101
    from flambeau.vision.datasets.caltech import Caltech256 as Caltech256
    from flambeau.vision.datasets.celeba import CelebA as CelebA
    from flambeau.vision.datasets.cifar import CIFAR10 as CIFAR10
    from flambeau.vision.datasets.cifar import CIFAR100 as CIFAR100
    from flambeau.vision.datasets.cityscapes import Cityscapes as Cityscapes
    from flambeau.vision.datasets.clevr import CLEVRClassification as CLEVRClassification
    from flambeau.vision.datasets.coco import CocoCaptions as CocoCaptions
    from flambeau.vision.datasets.coco import CocoDetection as CocoDetection
    from flambeau.vision.datasets.country211 import Country211 as Country211
    from flambeau.vision.datasets.dtd import DTD as DTD
    from flambeau.vision.datasets.eurosat import EuroSAT as EuroSAT
    from flambeau.vision.datasets.fakedata import FakeData as FakeData
    from flambeau.vision.datasets.fer2013 import FER2013 as FER2013
    from flambeau.vision.datasets.fgvc_aircraft import FGVCAircraft as FGVCAircraft
    from flambeau.vision.datasets.flickr import Flickr8k as Flickr8k
    from flambeau.vision.datasets.flickr import Flickr30k as Flickr30k
    from flambeau.vision.datasets.flowers102 import Flowers102 as Flowers102
    from flambeau.vision.datasets.folder import DatasetFolder as DatasetFolder
    from flambeau.vision.datasets.folder import ImageFolder as ImageFolder
    from flambeau.vision.datasets.food101 import Food101 as Food101
    from flambeau.vision.datasets.gtsrb import GTSRB as GTSRB
    from flambeau.vision.datasets.imagenet import ImageNet as ImageNet
    from flambeau.vision.datasets.imagenette import Imagenette as Imagenette
    from flambeau.vision.datasets.inaturalist import INaturalist as INaturalist
    from flambeau.vision.datasets.kitti import Kitti as Kitti
    from flambeau.vision.datasets.lfw import LFWPairs as LFWPairs
    from flambeau.vision.datasets.lfw import LFWPeople as LFWPeople
    from flambeau.vision.datasets.lsun import LSUN as LSUN
    from flambeau.vision.datasets.lsun import LSUNClass as LSUNClass
    from flambeau.vision.datasets.mnist import EMNIST as EMNIST
    from flambeau.vision.datasets.mnist import KMNIST as KMNIST
    from flambeau.vision.datasets.mnist import MNIST as MNIST
    from flambeau.vision.datasets.mnist import QMNIST as QMNIST
    from flambeau.vision.datasets.mnist import FashionMNIST as FashionMNIST
    from flambeau.vision.datasets.moving_mnist import MovingMNIST as MovingMNIST
    from flambeau.vision.datasets.omniglot import Omniglot as Omniglot
    from flambeau.vision.datasets.oxford_iiit_pet import OxfordIIITPet as OxfordIIITPet
    from flambeau.vision.datasets.pcam import PCAM as PCAM
    from flambeau.vision.datasets.phototour import PhotoTour as PhotoTour
    from flambeau.vision.datasets.places365 import Places365 as Places365
    from flambeau.vision.datasets.rendered_sst2 import RenderedSST2 as RenderedSST2
    from flambeau.vision.datasets.sbd import SBDataset as SBDataset
    from flambeau.vision.datasets.sbu import SBU as SBU
    from flambeau.vision.datasets.semeion import SEMEION as SEMEION
    from flambeau.vision.datasets.stanford_cars import StanfordCars as StanfordCars
    from flambeau.vision.datasets.stl10 import STL10 as STL10
    from flambeau.vision.datasets.sun397 import SUN397 as SUN397
    from flambeau.vision.datasets.svhn import SVHN as SVHN
    from flambeau.vision.datasets.usps import USPS as USPS
    from flambeau.vision.datasets.vision import VisionDataset as VisionDataset
    from flambeau.vision.datasets.voc import VOCDetection as VOCDetection
    from flambeau.vision.datasets.voc import VOCSegmentation as VOCSegmentation
    from flambeau.vision.datasets.widerface import WIDERFace as WIDERFace

# The module of each data set: a program loads only those it uses.
_HOMES = {
    "_optical_flow": "FlyingChairs FlyingThings3D HD1K KittiFlow Sintel",
    "_stereo_matching": (
        "CREStereo CarlaStereo ETH3DStereo FallingThingsStereo InStereo2k Kitti2012Stereo "
        "Kitti2015Stereo Middlebury2014Stereo SceneFlowStereo SintelStereo"
    ),
    "_wrapped": "wrap_dataset_for_transforms_v2",
    "caltech": "Caltech101 Caltech256",
    "celeba": "CelebA",
    "cifar": "CIFAR10 CIFAR100",
    "cityscapes": "Cityscapes",
    "clevr": "CLEVRClassification",
    "coco": "CocoCaptions CocoDetection",
    "country211": "Country211",
    "dtd": "DTD",
    "eurosat": "EuroSAT",
    "fakedata": "FakeData",
    "fer2013": "FER2013",
    "fgvc_aircraft": "FGVCAircraft",
    "flickr": "Flickr30k Flickr8k",
    "flowers102": "Flowers102",
    "folder": "DatasetFolder ImageFolder",
    "food101": "Food101",
    "gtsrb": "GTSRB",
    "imagenet": "ImageNet",
    "imagenette": "Imagenette",
    "inaturalist": "INaturalist",
    "kitti": "Kitti",
    "lfw": "LFWPairs LFWPeople",
    "lsun": "LSUN LSUNClass",
    "mnist": "EMNIST FashionMNIST KMNIST MNIST QMNIST",
    "moving_mnist": "MovingMNIST",
    "omniglot": "Omniglot",
    "oxford_iiit_pet": "OxfordIIITPet",
    "pcam": "PCAM",
    "phototour": "PhotoTour",
    "places365": "Places365",
    "rendered_sst2": "RenderedSST2",
    "sbd": "SBDataset",
    "sbu": "SBU",
    "semeion": "SEMEION",
    "stanford_cars": "StanfordCars",
    "stl10": "STL10",
    "sun397": "SUN397",
    "svhn": "SVHN",
    "usps": "USPS",
    "vision": "VisionDataset",
    "voc": "VOCDetection VOCSegmentation",
    "widerface": "WIDERFace",
}
if not TYPE_CHECKING:
    _UNAVAILABLE = _unavailable()
    _NAMES = {name: module for module, names in _HOMES.items() for name in names.split()}
    __all__ = sorted([*_NAMES, *_UNAVAILABLE, "Digits"])

    def __getattr__(name: str) -> Any:
        if name in _NAMES:
            module = importlib.import_module(f"flambeau.vision.datasets.{_NAMES[name]}")
            value = getattr(module, name)
        elif name in _UNAVAILABLE:
            value = _UNAVAILABLE[name]
        elif name == "Digits":
            value = importlib.import_module("flambeau.datasets").Digits
        elif name in _HOMES or name == "utils":
            return importlib.import_module(f"flambeau.vision.datasets.{name}")
        else:
            raise AttributeError(f"module 'flambeau.vision.datasets' has no attribute {name!r}")
        globals()[name] = value  # found at once the next time
        return value

    def __dir__() -> list[str]:
        return [*__all__, *_HOMES, "utils"]
