"""Data sets of torchvision that are not here: they say what to use instead."""

from __future__ import annotations

from typing import Any, NoReturn

from flambeau.vision.datasets.vision import VisionDataset

__all__: list[str] = []

_FILMS = ("HMDB51", "Kinetics", "UCF101")


class _Unavailable(VisionDataset):
    """A data set by name only."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            f"datasets.{type(self).__name__} reads films, for which there is no decoder here: "
            "decode them with another package into tensors or files, and read those in a Dataset "
            "of your own"
        )


def unavailable() -> dict[str, type[VisionDataset]]:
    """A class for each of the names."""
    return {
        name: type(name, (_Unavailable,), {"__module__": "flambeau.vision.datasets"})
        for name in _FILMS
    }
