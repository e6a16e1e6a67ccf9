"""Data sets of torchvision that are not here: they say what to use instead."""

from __future__ import annotations

from typing import Any, NoReturn

from flambeau.vision.datasets.vision import VisionDataset

__all__: list[str] = []

_NAMES = """
    CLEVRClassification CREStereo Caltech101 Caltech256 CarlaStereo CelebA Cityscapes CocoCaptions
    CocoDetection Country211 DTD ETH3DStereo EuroSAT FER2013 FGVCAircraft FallingThingsStereo
    Flickr30k Flickr8k Flowers102 FlyingChairs FlyingThings3D Food101 GTSRB HD1K HMDB51 INaturalist
    ImageNet Imagenette InStereo2k Kinetics Kitti Kitti2012Stereo Kitti2015Stereo KittiFlow LFWPairs
    LFWPeople LSUN LSUNClass Middlebury2014Stereo MovingMNIST Omniglot OxfordIIITPet PCAM PhotoTour
    Places365 RenderedSST2 SBDataset SBU SEMEION SUN397 SceneFlowStereo Sintel SintelStereo
    StanfordCars UCF101 USPS VOCDetection VOCSegmentation WIDERFace
"""


class _Unavailable(VisionDataset):
    """A data set by name only."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            f"datasets.{type(self).__name__} is not part of Flambeau: arrange its images as "
            "root/class/file and use datasets.ImageFolder, or read them with io.read_image in a "
            "Dataset of your own"
        )


def unavailable() -> dict[str, type[VisionDataset]]:
    """A class for each of the names."""
    return {
        name: type(name, (_Unavailable,), {"__module__": "flambeau.vision.datasets"})
        for name in _NAMES.split()
    }
