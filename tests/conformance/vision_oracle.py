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
    library.impl("nms", _nms, "CPU")
    # Its detectors then run too: regions are averaged by a part of it that is written in Python,
    # here without compiling it first.
    importlib.import_module("torchvision.ops.boxes")._assert_has_ops = lambda: None
    regions = importlib.import_module("torchvision.ops.roi_align")
    regions._roi_align = regions._roi_align.__wrapped__
    return importlib.import_module(name)


def _nms(boxes: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """By its definition: each box goes that overlaps a better one which stays."""
    overlaps = importlib.import_module("torchvision.ops").box_iou(boxes, boxes)
    order = scores.argsort(descending=True, stable=True)
    gone = torch.zeros(len(boxes), dtype=torch.bool)
    kept = []
    for row in order.tolist():
        if not gone[row]:
            kept.append(row)
            gone |= overlaps[row] > iou_threshold
    return torch.tensor(kept, dtype=torch.int64)


def has_operators() -> bool:
    """Whether the native library is there too."""
    load()
    return hasattr(torch.ops.torchvision, "roi_align") and not _declared
