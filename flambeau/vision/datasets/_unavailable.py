"""torchvision's data sets that are not available here: they say what to use instead."""

from __future__ import annotations

from typing import Any, NoReturn

from flambeau._limits.refusing import doc_of, refusal
from flambeau.vision.datasets.vision import VisionDataset

__all__: list[str] = []

_VIDEOS = ("HMDB51", "Kinetics", "UCF101")


class _Unavailable(VisionDataset):
    """A data set that exists by name only."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise refusal(f"vision.datasets.{type(self).__name__}")


def unavailable() -> dict[str, type[VisionDataset]]:
    """Make a class for each name."""
    return {
        name: type(
            name,
            (_Unavailable,),
            {
                "__doc__": doc_of(f"vision.datasets.{name}"),
                "__module__": "flambeau.vision.datasets",
            },
        )
        for name in _VIDEOS
    }
