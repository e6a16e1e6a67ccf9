"""Losses of predicted boxes, pair by pair."""

from __future__ import annotations

import math

import flambeau as fb
from flambeau import Tensor

__all__ = ["complete_box_iou_loss", "distance_box_iou_loss", "generalized_box_iou_loss"]


def generalized_box_iou_loss(
    boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7
) -> Tensor:
    """Return 1 minus the generalised IoU of each pair (N, 4)."""
    overlap, either, sides = _pairs(boxes1, boxes2, eps)
    area = sides[..., 0] * sides[..., 1]
    return _reduced(1 - (overlap - (area - either) / (area + eps)), reduction)


def distance_box_iou_loss(
    boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7
) -> Tensor:
    """Return 1 minus the IoU of each pair, plus the normalised distance of their centres."""
    return _reduced(_distance(boxes1, boxes2, eps)[0], reduction)


def complete_box_iou_loss(
    boxes1: Tensor, boxes2: Tensor, reduction: str = "none", eps: float = 1e-7
) -> Tensor:
    """Return the distance IoU loss plus a penalty for different aspect ratios."""
    loss, overlap = _distance(boxes1, boxes2, eps)
    sides1, sides2 = (_float(boxes[..., 2:] - boxes[..., :2]) for boxes in (boxes1, boxes2))
    angle = fb.atan(sides2[..., 0] / sides2[..., 1]) - fb.atan(sides1[..., 0] / sides1[..., 1])
    difference = 4 / math.pi**2 * angle**2
    with fb.no_grad():
        weight = difference / (1 - overlap + difference + eps)
    return _reduced(loss + weight * difference, reduction)


def _float(values: Tensor) -> Tensor:
    return values if values.dtype in (fb.float32, fb.float64) else values.float()


def _pairs(boxes1: Tensor, boxes2: Tensor, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """The IoU, the area of the union, and the sides of the enclosing box."""
    first, second = _float(boxes1), _float(boxes2)
    shared = fb.min(first[..., 2:], second[..., 2:]) - fb.max(first[..., :2], second[..., :2])
    shared = shared.clamp(min=0)
    both = shared[..., 0] * shared[..., 1]
    areas = [(b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1]) for b in (first, second)]
    either = areas[0] + areas[1] - both
    hull = fb.max(first[..., 2:], second[..., 2:]) - fb.min(first[..., :2], second[..., :2])
    return both / (either + eps), either, hull


def _distance(boxes1: Tensor, boxes2: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    overlap, _, sides = _pairs(boxes1, boxes2, eps)
    middle1, middle2 = ((_float(b)[..., :2] + _float(b)[..., 2:]) / 2 for b in (boxes1, boxes2))
    apart = ((middle1 - middle2) ** 2).sum(-1)
    return 1 - overlap + apart / ((sides**2).sum(-1) + eps), overlap


def _reduced(loss: Tensor, reduction: str) -> Tensor:
    if reduction == "mean":
        return loss.mean() if loss.numel() > 0 else 0.0 * loss.sum()
    if reduction == "sum":
        return loss.sum()
    if reduction != "none":
        raise ValueError(
            f"Invalid Value for arg 'reduction': '{reduction}'. Supported: 'none', 'mean', 'sum'"
        )
    return loss
