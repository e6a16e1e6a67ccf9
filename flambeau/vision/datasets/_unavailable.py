"""Data sets of torchvision that are not here: they say what to use instead."""

from __future__ import annotations

from typing import Any, NoReturn

from flambeau.vision.datasets.vision import VisionDataset

__all__: list[str] = []

_FILMS = "HMDB51 Kinetics UCF101"
_NAMES = f"""
    {_FILMS} CREStereo CarlaStereo ETH3DStereo FallingThingsStereo FlyingChairs FlyingThings3D
    HD1K InStereo2k Kitti2012Stereo Kitti2015Stereo KittiFlow Middlebury2014Stereo SceneFlowStereo
    Sintel SintelStereo
"""


class _Unavailable(VisionDataset):
    """A data set by name only."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        name = type(self).__name__
        if name in _FILMS.split():
            raise NotImplementedError(
                f"datasets.{name} reads films, for which there is no decoder here: decode them "
                "with another package into tensors or files, and read those in a Dataset of your "
                "own"
            )
        raise NotImplementedError(
            f"datasets.{name} is not part of Flambeau: read its images with io.read_image in a "
            "Dataset of your own"
        )


def unavailable() -> dict[str, type[VisionDataset]]:
    """A class for each of the names."""
    return {
        name: type(name, (_Unavailable,), {"__module__": "flambeau.vision.datasets"})
        for name in _NAMES.split()
    }
