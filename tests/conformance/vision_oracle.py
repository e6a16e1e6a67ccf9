"""torchvision, also beside a torch that its native library was not built for.

Wheels of the two from different places may not fit together (one for CUDA, one without). What is
compared with it is its Python part: it only asks that its operators have been declared.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import torch

_NEEDED = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)
_declared: list[Any] = []  # a library that is dropped takes its operators along


def load(module: str = "") -> Any:
    """Import torchvision or one of its modules."""
    name = f"torchvision.{module}" if module else "torchvision"
    try:
        return importlib.import_module(name)
    except RuntimeError:
        if _declared:
            raise
    for loaded in [each for each in sys.modules if each.startswith("torchvision")]:
        del sys.modules[loaded]
    library = torch.library.Library("torchvision", "FRAGMENT")
    _declared.append(library)
    for schema in _NEEDED:
        library.define(schema)
    return importlib.import_module(name)


def has_operators() -> bool:
    """Whether the native library is there too."""
    load()
    return hasattr(torch.ops.torchvision, "roi_align") and not _declared
