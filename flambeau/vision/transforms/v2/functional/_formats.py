"""Conversion between box formats, and the corners of boxes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.tv_tensors import BoundingBoxFormat, is_rotated_bounding_format

__all__ = ["convert", "from_corners", "in_float", "to_corners", "upright_box"]

_Function = Callable[[Tensor], Tensor]


def convert(boxes: Tensor, old: BoundingBoxFormat, new: BoundingBoxFormat) -> Tensor:
    """Convert boxes to another format; integers are truncated, never rounded up."""
    if old is new:
        return boxes
    if is_rotated_bounding_format(old) != is_rotated_bounding_format(new):
        raise ValueError(
            "Cannot convert between rotated and unrotated bounding boxes: old_format is "
            f"{old.value}, new_format is {new.value}."
        )
    if is_rotated_bounding_format(old):
        return _FROM_CENTERS[new](_TO_CENTERS[old](boxes))
    return _FROM_XYXY[new](_TO_XYXY[old](boxes))


def in_float(boxes: Tensor) -> Tensor:
    """Convert boxes to a floating-point type for computation."""
    return boxes if boxes.is_floating_point() else boxes.float()


def to_corners(boxes: Tensor, format: BoundingBoxFormat) -> Tensor:
    """Return the corners (N, 4, 2) of boxes, clockwise from the top left one."""
    boxes = boxes.reshape(-1, boxes.shape[-1])
    if is_rotated_bounding_format(format):
        return convert(boxes, format, BoundingBoxFormat.XYXYXYXY).view(-1, 4, 2)
    left, top, right, bottom = convert(boxes, format, BoundingBoxFormat.XYXY).unbind(-1)
    points = (left, top, right, top, right, bottom, left, bottom)
    return in_float(fb.stack(points, -1)).view(-1, 4, 2)


def from_corners(corners: Tensor, format: BoundingBoxFormat) -> Tensor:
    """Return boxes around four points each; for rotated formats, the corners of a rectangle."""
    if is_rotated_bounding_format(format):
        return convert(corners.reshape(-1, 8), BoundingBoxFormat.XYXYXYXY, format)
    return convert(upright_box(corners), BoundingBoxFormat.XYXY, format)


def upright_box(points: Tensor) -> Tensor:
    """The smallest boxes XYXY that hold the points (N, P, 2) of each."""
    return fb.cat((points.amin(-2), points.amax(-2)), -1)


def _xywh_to_xyxy(boxes: Tensor) -> Tensor:
    corner, size = boxes[..., :2], boxes[..., 2:]
    return fb.cat((corner, corner + size), -1)


def _xyxy_to_xywh(boxes: Tensor) -> Tensor:
    corner, opposite = boxes[..., :2], boxes[..., 2:]
    return fb.cat((corner, opposite - corner), -1)


def _cxcywh_to_xyxy(boxes: Tensor) -> Tensor:
    center, half = boxes[..., :2], boxes[..., 2:] / 2
    return fb.cat((center - half, center + half), -1).to(boxes.dtype)


def _xyxy_to_cxcywh(boxes: Tensor) -> Tensor:
    corner, opposite = boxes[..., :2], boxes[..., 2:]
    rounding = None if boxes.is_floating_point() else "floor"
    center = (corner + opposite).div(2, rounding_mode=rounding)
    return fb.cat((center, opposite - corner), -1)


def _directions(degrees: Tensor) -> tuple[Tensor, Tensor]:
    """Unit vectors along the width and the height of rotated boxes; y points down."""
    angle = degrees * (math.pi / 180)
    cos, sin = angle.cos(), angle.sin()
    return fb.cat((cos, -sin), -1), fb.cat((sin, cos), -1)


def _half_diagonal(boxes: Tensor) -> Tensor:
    """The offset from the top left corner of boxes (..., W, H, R) to their centre."""
    across, down = _directions(boxes[..., 4:])
    return (boxes[..., 2:3] * across + boxes[..., 3:4] * down) / 2


def _xywhr_to_cxcywhr(boxes: Tensor) -> Tensor:
    return fb.cat((boxes[..., :2] + _half_diagonal(boxes), boxes[..., 2:]), -1)


def _cxcywhr_to_xywhr(boxes: Tensor) -> Tensor:
    return fb.cat((boxes[..., :2] - _half_diagonal(boxes), boxes[..., 2:]), -1)


def _cxcywhr_to_xyxyxyxy(boxes: Tensor) -> Tensor:
    across, down = _directions(boxes[..., 4:])
    across, down = across * boxes[..., 2:3], down * boxes[..., 3:4]
    first = boxes[..., :2] - (across + down) / 2
    second = first + across
    return fb.cat((first, second, second + down, first + down), -1)


def _xyxyxyxy_to_cxcywhr(boxes: Tensor) -> Tensor:
    first, second, third = boxes[..., 0:2], boxes[..., 2:4], boxes[..., 4:6]
    across, down = second - first, third - second
    angle = fb.atan2(-across[..., 1:], across[..., :1]) * (180 / math.pi)
    width, height = (side.norm(dim=-1, keepdim=True) for side in (across, down))
    return fb.cat(((first + third) / 2, width, height, angle), -1)


def _same(boxes: Tensor) -> Tensor:
    return boxes


_F: Any = BoundingBoxFormat
_TO_XYXY: dict[Any, _Function] = {
    _F.XYXY: _same,
    _F.XYWH: _xywh_to_xyxy,
    _F.CXCYWH: _cxcywh_to_xyxy,
}
_FROM_XYXY: dict[Any, _Function] = {
    _F.XYXY: _same,
    _F.XYWH: _xyxy_to_xywh,
    _F.CXCYWH: _xyxy_to_cxcywh,
}
_TO_CENTERS: dict[Any, _Function] = {
    _F.CXCYWHR: _same,
    _F.XYWHR: _xywhr_to_cxcywhr,
    _F.XYXYXYXY: _xyxyxyxy_to_cxcywhr,
}
_FROM_CENTERS: dict[Any, _Function] = {
    _F.CXCYWHR: _same,
    _F.XYWHR: _cxcywhr_to_xywhr,
    _F.XYXYXYXY: _cxcywhr_to_xyxyxyxy,
}
