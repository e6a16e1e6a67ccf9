"""Boxes moved as a whole, and corner by corner."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flambeau import Tensor
from flambeau.vision.transforms.v2.functional._boxes import clamped
from flambeau.vision.transforms.v2.functional._formats import from_corners, to_corners
from flambeau.vision.transforms.v2.functional._rotated import rectangles
from flambeau.vision.tv_tensors import BoundingBoxFormat, is_rotated_bounding_format

__all__ = ["moved", "shifted"]

_CORNERS = (BoundingBoxFormat.XYXY, BoundingBoxFormat.XYXYXYXY)


def shifted(boxes: Tensor, format: BoundingBoxFormat, right: float, down: float) -> Tensor:
    """Move boxes by a number of pixels."""
    numbers = boxes.shape[-1]
    if format in _CORNERS:
        way = [right, down] * (numbers // 2)
    else:
        way = [right, down] + [0] * (numbers - 2)
    return boxes + boxes.new_tensor(way)


def moved(
    boxes: Tensor,
    format: BoundingBoxFormat,
    canvas_size: Sequence[int],
    clamping_mode: str | None,
    move: Callable[[Tensor], Tensor],
) -> Tensor:
    """Return boxes around the corners (N, 4, 2) mapped by `move`, within an image."""
    corners = move(to_corners(boxes, format))
    if is_rotated_bounding_format(format):
        corners = rectangles(corners)
    result = clamped(from_corners(corners, format), format, canvas_size, clamping_mode)
    return result.view(boxes.shape).to(boxes.dtype)
