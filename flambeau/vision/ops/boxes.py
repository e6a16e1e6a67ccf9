"""Boxes (left, top, right, bottom): non-maximum suppression, overlap, clipping, areas."""

from __future__ import annotations

import math
from collections.abc import Iterator

import flambeau as fb
from flambeau import Tensor
from flambeau._C import _box_iou_rotated, _nms
from flambeau.vision.ops._box_convert import ROTATED, STRAIGHT, box_convert

__all__ = [
    "batched_nms",
    "box_area",
    "box_convert",
    "box_iou",
    "clip_boxes_to_image",
    "complete_box_iou",
    "distance_box_iou",
    "generalized_box_iou",
    "masks_to_boxes",
    "nms",
    "remove_small_boxes",
]

# Up to this many numbers are compared at once; above it torchvision goes class by class too.
_MANY = 4000


def nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Non-maximum suppression: drop boxes that overlap better ones.

    Args:
        boxes: Boxes (N, 4) as left, top, right, bottom.
        scores: Score of each box, (N,).
        iou_threshold: Largest overlap (intersection over union) with a better box that stays.

    Returns:
        Indices of the boxes to keep, best first.

    Example:
        >>> from flambeau.vision.ops import nms
        >>> boxes = torch.tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [5.0, 5.0, 6.0, 6.0]])
        >>> nms(boxes, torch.tensor([0.8, 0.9, 0.5]), iou_threshold=0.5)
        tensor([1, 2])
    """
    return _nms(boxes, scores, iou_threshold)


def batched_nms(boxes: Tensor, scores: Tensor, idxs: Tensor, iou_threshold: float) -> Tensor:
    """Do the same separately for the boxes of each class ``idxs``."""
    if boxes.numel() == 0:
        return fb.empty(0, dtype=fb.int64, device=boxes.device)
    if boxes.numel() > _MANY:
        return _nms_by_class(boxes, scores, idxs, iou_threshold)
    # Boxes of different classes are moved so far apart that they cannot overlap.
    offsets = idxs.to(boxes) * (boxes.max() + 1)
    return nms(boxes + offsets[:, None], scores, iou_threshold)


def _nms_by_class(boxes: Tensor, scores: Tensor, idxs: Tensor, iou_threshold: float) -> Tensor:
    """Suppress class by class: no box is compared with all others, and none is moved."""
    kept = []
    for label in idxs.unique():
        rows = fb.where(idxs == label)[0]
        kept.append(rows[nms(boxes[rows], scores[rows], iou_threshold)])
    rows = fb.cat(kept).sort()[0]
    return rows[scores[rows].sort(descending=True, stable=True)[1]]


def remove_small_boxes(boxes: Tensor, min_size: float) -> Tensor:
    """Return the indices of boxes whose sides are both at least ``min_size``."""
    width, height = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    large = fb.logical_and(width >= min_size, height >= min_size)
    return fb.argwhere(large).flatten()


def clip_boxes_to_image(boxes: Tensor, size: tuple[int, int]) -> Tensor:
    """Return boxes (..., 4) clipped to an image of (height, width)."""
    height, width = size
    across, down = boxes[..., 0::2].clamp(0, width), boxes[..., 1::2].clamp(0, height)
    return fb.stack((across, down), boxes.ndim).reshape(boxes.shape)


def box_area(boxes: Tensor, fmt: str = "xyxy") -> Tensor:
    """Return the area of every box (..., 4)."""
    if fmt not in STRAIGHT:
        raise ValueError(f"Unsupported Bounding Box area for given format {fmt}")
    wide = _widened(boxes)
    if fmt == "xyxy":
        return (wide[..., 2] - wide[..., 0]) * (wide[..., 3] - wide[..., 1])
    return wide[..., 2] * wide[..., 3]


def _widened(boxes: Tensor) -> Tensor:
    """Convert boxes to a type whose products do not overflow."""
    if boxes.is_floating_point():
        return boxes if boxes.dtype in (fb.float32, fb.float64) else boxes.float()
    return boxes if boxes.dtype in (fb.int32, fb.int64) else boxes.int()


def _overlap(boxes1: Tensor, boxes2: Tensor) -> tuple[Tensor, Tensor]:
    """The areas of intersection and union of every pair."""
    wide, high = (
        _widened(fb.min(ends1, ends2) - fb.max(starts1, starts2)).clamp(min=0)
        for starts1, starts2, ends1, ends2 in _pairs(boxes1, boxes2)
    )
    both = wide * high
    areas = box_area(boxes1)[..., :, None] + box_area(boxes2)[..., None, :]
    return both, areas - both


def _hull(boxes1: Tensor, boxes2: Tensor) -> tuple[Tensor, Tensor]:
    """The sides of the enclosing box of every pair."""
    wide, high = (
        _widened(fb.max(ends1, ends2) - fb.min(starts1, starts2)).clamp(min=0)
        for starts1, starts2, ends1, ends2 in _pairs(boxes1, boxes2)
    )
    return wide, high


def _pairs(boxes1: Tensor, boxes2: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """The start and end of boxes along both axes, as (..., N, 1) and (..., 1, M)."""
    for axis in (0, 1):
        starts1, ends1 = boxes1[..., axis, None], boxes1[..., axis + 2, None]
        starts2, ends2 = boxes2[..., None, :, axis], boxes2[..., None, :, axis + 2]
        yield starts1, starts2, ends1, ends2


def box_iou(boxes1: Tensor, boxes2: Tensor, fmt: str = "xyxy") -> Tensor:
    """Intersection over union of every pair of boxes.

    Args:
        boxes1: Boxes (N, 4).
        boxes2: Boxes (M, 4).
        fmt: Format of the boxes. Default: `"xyxy"`, left, top, right, bottom.

    Returns:
        A tensor (N, M).

    Example:
        >>> from flambeau.vision.ops import box_iou
        >>> box_iou(torch.tensor([[0.0, 0.0, 2.0, 2.0]]), torch.tensor([[1.0, 0.0, 3.0, 2.0]]))
        tensor([[0.3333]])
    """
    if fmt in ROTATED:
        return _box_iou_rotated(*(_form(boxes, fmt, "cxcywhr") for boxes in (boxes1, boxes2)))
    if fmt not in STRAIGHT:
        raise ValueError(
            f"Unsupported format '{fmt}'. Supported axis-aligned formats: {STRAIGHT}. Supported "
            f"rotated formats: {ROTATED}."
        )
    both, either = _overlap(*(_form(boxes, fmt, "xyxy") for boxes in (boxes1, boxes2)))
    return both / either


def _form(boxes: Tensor, given: str, wanted: str) -> Tensor:
    return boxes if given == wanted else box_convert(boxes, given, wanted)


def generalized_box_iou(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    """Return the IoU of every pair minus the share of the enclosing box outside of both."""
    both, either = _overlap(boxes1, boxes2)
    wide, high = _hull(boxes1, boxes2)
    area = wide * high
    return both / either - (area - either) / area


def distance_box_iou(boxes1: Tensor, boxes2: Tensor, eps: float = 1e-7) -> Tensor:
    """Return the IoU of every pair minus the squared distance of centres over diagonal."""
    both, either = _overlap(boxes1, boxes2)
    wide, high = _hull(boxes1, boxes2)
    diagonal = wide**2 + high**2 + eps
    middles1, middles2 = ((boxes[..., :2] + boxes[..., 2:]) / 2 for boxes in (boxes1, boxes2))
    distance = _widened(middles1[..., :, None, :] - middles2[..., None, :, :]) ** 2
    return both / either - distance.sum(-1) / diagonal


def complete_box_iou(boxes1: Tensor, boxes2: Tensor, eps: float = 1e-7) -> Tensor:
    """Return `distance_box_iou` minus a penalty for different aspect ratios."""
    both, either = _overlap(boxes1, boxes2)
    overlap = both / either
    shape1, shape2 = (_slope(boxes) for boxes in (boxes1, boxes2))
    difference = 4 / math.pi**2 * (shape1[..., :, None] - shape2[..., None, :]) ** 2
    with fb.no_grad():
        weight = difference / (1 - overlap + difference + eps)
    return distance_box_iou(boxes1, boxes2, eps) - weight * difference


def _slope(boxes: Tensor) -> Tensor:
    sides = boxes[..., 2:] - boxes[..., :2]
    return fb.atan(sides[..., 0] / sides[..., 1])


def masks_to_boxes(masks: Tensor) -> Tensor:
    """Return the box around the set pixels of every mask (N, H, W); zeros if there are none."""
    if masks.ndim != 3:
        raise ValueError(f"masks must have shape (count, height, width), got {tuple(masks.shape)}")
    boxes = fb.zeros((masks.shape[0], 4), dtype=fb.float32, device=masks.device)
    for row, mask in zip(boxes, masks, strict=True):
        y, x = fb.where(mask != 0)
        if y.numel() > 0:
            row.copy_(fb.stack((x.min(), y.min(), x.max(), y.max())))
    return boxes
