"""Boxes, regions and a detector, against torchvision.

Where its native operators do not load beside PyTorch, rows that would compare with something else
are left out, but for `deform_conv2d`, which is then compared with its definition in PyTorch.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from typing import Any

import numpy as np

from benchmarks.case import Namespace, add_case
from benchmarks.vision import vision

REGIONS, CANDIDATES = 256, 2000
NATIVE_VARIABLE = "BENCHMARKS_NATIVE_TORCHVISION"


def _native() -> bool:
    """Whether torchvision's native operators are there.

    The first process asks another one and tells its own workers. A process that has loaded PyTorch
    is larger and forks slowly, and so must not be the one that is measured.
    """
    known = os.environ.get(NATIVE_VARIABLE)
    if known is None:
        program = "from tests.conformance.vision_oracle import has_operators as has; assert has()"
        asked = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
        known = os.environ[NATIVE_VARIABLE] = str(asked.returncode == 0)
    return known == "True"


def _deform_conv2d(t: Any) -> Any:
    """torchvision's, or its definition: a sample of the image for every tap, then a product."""
    if t.__name__ == "flambeau" or _native():
        return vision(t).ops.deform_conv2d
    F = t.nn.functional

    def composed(x: Any, offset: Any, weight: Any, *, padding: int, mask: Any) -> Any:
        batch, channels, height, width = x.shape
        size = t.tensor([width, height])
        middle = t.stack(t.meshgrid(t.arange(width), t.arange(height), indexing="xy"), -1)
        taps = []
        for tap in range(9):
            start = t.tensor([tap % 3 - padding, tap // 3 - padding])
            moved = offset[:, 2 * tap : 2 * tap + 2].flip(1).permute(0, 2, 3, 1) + middle + start
            seen = F.grid_sample(x, (2 * moved + 1) / size - 1, align_corners=False)
            taps.append(seen * mask[:, tap : tap + 1])
        columns = t.stack(taps, 2).view(batch, channels * 9, height * width)
        return (weight.flatten(1) @ columns).view(batch, -1, height, width)

    return composed


def _boxes(count: int, extent: float, side: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    corners = rng.random((count, 4)) * extent
    corners[:, 2:] = corners[:, :2] + rng.random((count, 2)) * side + 8
    return corners.astype(np.float32)


def _operators(t: Any) -> Namespace:
    """Feature maps of a usual size, boxes on the image, and offsets of a 3 × 3 kernel."""
    t.manual_seed(0)
    numbers = t.arange(REGIONS, dtype=t.float32)[:, None] % 2
    return {
        "ops": vision(t).ops,
        "deform": _deform_conv2d(t),
        "x": t.randn(2, 64, 50, 68, requires_grad=True),
        "rois": t.cat((numbers, t.tensor(_boxes(REGIONS, 600, 200))), 1),
        "boxes": t.tensor(_boxes(CANDIDATES, 800, 120)),
        "scores": t.rand(CANDIDATES),
        "labels": t.arange(CANDIDATES) % 5,
        "offset": t.randn(2, 18, 50, 68, requires_grad=True),
        "m": t.rand(2, 9, 50, 68, requires_grad=True),
        "weight": t.randn(64, 64, 3, 3, requires_grad=True),
    }


def _detector(t: Any) -> Namespace:
    """The smallest detector on two images."""
    tv = vision(t)
    t.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = [
            tv.models.detection.fasterrcnn_mobilenet_v3_large_320_fpn(
                weights=None, weights_backbone=None, num_classes=5
            )
            for _ in range(2)
        ]
    images = [t.rand(3, 240, 320), t.rand(3, 320, 240)]
    targets = [{"boxes": t.tensor(_boxes(4, 100, 100)), "labels": t.arange(1, 5)} for _ in images]

    def step() -> Any:
        made[0].zero_grad()
        loss = sum(made[0](images, targets).values())
        loss.backward()
        return loss

    model = made[1].eval()

    def detect() -> Any:
        with t.no_grad():
            return model(images)

    return {"step": step, "detect": detect}


NATIVE = (
    "ops.nms(boxes, scores, 0.5)",
    "ops.batched_nms(boxes, scores, labels, 0.5)",
    "ops.roi_align(x, rois, 7, 1 / 16, 2)",
    "ops.roi_pool(x, rois, 7, 1 / 16)",
    "ops.roi_align(x, rois, 7, 1 / 16, 2).sum().backward()",
)
ANYWHERE = (
    "ops.box_iou(boxes, boxes[:100])",
    "deform(x, offset, weight, padding=1, mask=m)",
    "deform(x, offset, weight, padding=1, mask=m).sum().backward()",
)
for statement in (*ANYWHERE, *(NATIVE if _native() else ())):
    add_case("detection", statement, _operators, statement)
if _native():
    add_case("detection", "a step of Faster R-CNN", _detector, "step()")
    add_case("detection", "detections of Faster R-CNN", _detector, "detect()")
