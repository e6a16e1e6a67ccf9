"""Class names of data sets, which weights and programs refer to."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

__all__ = ["classes"]

_FILES = {
    "_COCO_CATEGORIES": "coco.txt",
    "_IMAGENET_CATEGORIES": "imagenet.txt",
    "_KINETICS400_CATEGORIES": "kinetics400.txt",
    "_VOC_CATEGORIES": "voc.txt",
}


@functools.cache
def classes(file: str) -> list[str]:
    """Read the names in a file beside this one, one per line."""
    return Path(__file__).with_name(file).read_text(encoding="utf-8").splitlines()


def __getattr__(name: str) -> Any:
    if name in _FILES:
        return classes(_FILES[name])
    raise AttributeError(f"module 'flambeau.vision.models._meta' has no attribute {name!r}")
