"""Conversion between box formats."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor

__all__ = ["ROTATED", "STRAIGHT", "box_convert"]

# By their fields: corners (x, y), a centre (cx, cy), sides (w, h), an angle in degrees (r).
STRAIGHT = ("xyxy", "xywh", "cxcywh")
ROTATED = ("cxcywhr", "xywhr", "xyxyxyxy")


def box_convert(boxes: Tensor, in_fmt: str, out_fmt: str) -> Tensor:
    """Return boxes (..., K) in another format: ``xyxy``, ``xywh``, ``cxcywh``, or rotated ones.

    Rotated formats are ``xywhr`` (a corner, the sides, an angle in degrees counter-clockwise),
    ``cxcywhr`` and ``xyxyxyxy``, all four corners.
    """
    given, wanted = ([fmt in forms for forms in (STRAIGHT, ROTATED)] for fmt in (in_fmt, out_fmt))
    if not any(given) or not any(wanted):
        raise ValueError(
            f"Unsupported Bounding Box Conversions for given in_fmt {in_fmt} and out_fmt {out_fmt}"
        )
    if given != wanted:
        raise NotImplementedError(
            f"Unsupported Bounding Box Conversions for given in_fmt {in_fmt} and out_fmt {out_fmt}:"
            " boxes are either along the axes in both or turned in both"
        )
    fields = {"xywhr": 5, "cxcywhr": 5, "xyxyxyxy": 8}.get(in_fmt, 4)
    if boxes.shape[-1:] != (fields,):
        raise ValueError(
            f"boxes of the form {in_fmt} have shape (..., {fields}), got {tuple(boxes.shape)}"
        )
    if in_fmt == out_fmt:
        return boxes.clone()
    return _straight(boxes, in_fmt, out_fmt) if given[0] else _rotated(boxes, in_fmt, out_fmt)


def _straight(boxes: Tensor, in_fmt: str, out_fmt: str) -> Tensor:
    first, second = boxes[..., :2], boxes[..., 2:]
    if in_fmt == "xywh":
        second = first + second
    elif in_fmt == "cxcywh":
        first, second = first - 0.5 * second, first + 0.5 * second
    if out_fmt == "xywh":
        second = second - first
    elif out_fmt == "cxcywh":
        first, second = (first + second) / 2, second - first
    return fb.cat((first, second), -1)


def _rotated(boxes: Tensor, in_fmt: str, out_fmt: str) -> Tensor:
    """Convert through a corner and the vectors of the two sides that start there."""
    values = boxes if boxes.is_floating_point() else boxes.float()
    corner = values[..., :2]
    if in_fmt == "xyxyxyxy":
        right = values[..., 2:4] - corner
        size = fb.stack((_length(right), _length(values[..., 4:6] - values[..., 2:4])), -1)
        angle = fb.rad2deg(fb.atan2(-right[..., 1], right[..., 0]))[..., None]
    else:
        size, angle = values[..., 2:4], values[..., 4:]
    radians = fb.deg2rad(angle)
    right = size[..., :1] * fb.cat((radians.cos(), -radians.sin()), -1)
    down = size[..., 1:] * fb.cat((radians.sin(), radians.cos()), -1)
    if in_fmt == "cxcywhr":
        corner = corner - (right + down) / 2
    if out_fmt == "xyxyxyxy":
        points = (corner, corner + right, corner + right + down, corner + down)
        return fb.cat(points, -1).to(boxes.dtype)
    if out_fmt == "cxcywhr":
        corner = corner + (right + down) / 2
    return fb.cat((corner, size, angle), -1).to(boxes.dtype)


def _length(vectors: Tensor) -> Tensor:
    return (vectors**2).sum(-1).sqrt()
