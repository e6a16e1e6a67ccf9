"""Conversion, clamping and removal of boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.transforms.v2.functional._dispatch import is_pure_tensor
from flambeau.vision.transforms.v2.functional._formats import (
    convert,
    from_corners,
    in_float,
    to_corners,
)
from flambeau.vision.transforms.v2.functional._rotated import clamp_corners
from flambeau.vision.tv_tensors import BoundingBoxes, BoundingBoxFormat, is_rotated_bounding_format
from flambeau.vision.tv_tensors._bounding_boxes import check_clamping_mode, format_of

__all__ = [
    "clamp_bounding_boxes",
    "clamped",
    "convert_bounding_box_format",
    "sanitize_bounding_boxes",
]


def convert_bounding_box_format(
    inpt: Any,
    old_format: BoundingBoxFormat | str | None = None,
    new_format: BoundingBoxFormat | str | None = None,
    inplace: bool = False,
) -> Any:
    """Convert boxes to another format; plain tensors need ``old_format``."""
    if new_format is None:
        raise TypeError("convert_bounding_box_format() missing 1 required argument: 'new_format'")
    new = format_of(new_format)
    if is_pure_tensor(inpt):
        if old_format is None:
            raise ValueError("For pure tensor inputs, `old_format` has to be passed.")
        return _converted(inpt, format_of(old_format), new, inplace)
    _need_boxes(inpt)
    if old_format is not None:
        raise ValueError("For bounding box tv_tensor inputs, `old_format` must not be passed.")
    boxes = _converted(inpt.as_subclass(Tensor), inpt.format, new, inplace)
    return type(inpt).wrap(boxes, inpt, format=new)


def _converted(
    boxes: Tensor, old: BoundingBoxFormat, new: BoundingBoxFormat, inplace: bool
) -> Tensor:
    result = convert(boxes, old, new)
    if inplace and result.shape == boxes.shape:
        return boxes.copy_(result)
    return result


def _need_boxes(inpt: Any) -> None:
    if not isinstance(inpt, BoundingBoxes):
        raise TypeError(
            "Input can either be a plain tensor or a bounding box tv_tensor, but got "
            f"{type(inpt)} instead."
        )


def clamp_bounding_boxes(
    inpt: Any,
    format: BoundingBoxFormat | str | None = None,
    canvas_size: Sequence[int] | None = None,
    clamping_mode: str | None = "auto",
) -> Any:
    """Clamp boxes to their image; ``"auto"`` takes their own ``clamping_mode``."""
    check_clamping_mode(clamping_mode, "auto")
    if is_pure_tensor(inpt):
        if format is None or canvas_size is None or clamping_mode == "auto":
            raise ValueError(
                "For pure tensor inputs, `format`, `canvas_size` and `clamping_mode` have to be "
                "passed."
            )
        return clamped(inpt, format_of(format), canvas_size, clamping_mode)
    _need_boxes(inpt)
    if format is not None or canvas_size is not None:
        raise ValueError(
            "For bounding box tv_tensor inputs, `format` and `canvas_size` must not be passed."
        )
    mode = inpt.clamping_mode if clamping_mode == "auto" else clamping_mode
    boxes = clamped(inpt.as_subclass(Tensor), inpt.format, inpt.canvas_size, mode)
    return type(inpt).wrap(boxes, inpt)


def clamped(
    boxes: Tensor, format: BoundingBoxFormat, canvas_size: Sequence[int], mode: str | None
) -> Tensor:
    """Clamp boxes to an image; the mode None leaves them as they are."""
    if mode is None:
        return boxes
    if is_rotated_bounding_format(format):
        corners = clamp_corners(to_corners(boxes, format), canvas_size, mode == "hard")
        return from_corners(corners, format).view(boxes.shape)
    height, width = canvas_size
    xyxy = convert(in_float(boxes), format, BoundingBoxFormat.XYXY)
    x, y = xyxy[..., 0::2].clamp(0, width), xyxy[..., 1::2].clamp(0, height)
    inside = fb.stack((x, y), -1).flatten(-2)
    return convert(inside, BoundingBoxFormat.XYXY, format).to(boxes.dtype)


def sanitize_bounding_boxes(
    bounding_boxes: Any,
    format: BoundingBoxFormat | str | None = None,
    canvas_size: Sequence[int] | None = None,
    min_size: float = 1.0,
    min_area: float = 1.0,
) -> tuple[Any, Tensor]:
    """Return the boxes that are large enough and within their image, and a mask of them."""
    said = f"Got format={format} and canvas_size={canvas_size}."
    if isinstance(bounding_boxes, BoundingBoxes):
        if format is not None or canvas_size is not None:
            raise ValueError(
                "format and canvas_size must be None when bounding_boxes is a "
                f"tv_tensors.BoundingBoxes instance. {said} Leave those to None or pass "
                "bounding_boxes as a pure tensor."
            )
        boxes = bounding_boxes.as_subclass(Tensor)
        format, canvas_size = bounding_boxes.format, bounding_boxes.canvas_size
    elif is_pure_tensor(bounding_boxes):
        if format is None or canvas_size is None:
            raise ValueError(
                "format and canvas_size cannot be None if bounding_boxes is a pure tensor. "
                f"{said} Set those to appropriate values or pass bounding_boxes as a "
                "tv_tensors.BoundingBoxes object."
            )
        boxes = bounding_boxes
    else:
        raise ValueError(
            "bounding_boxes must be a tv_tensors.BoundingBoxes instance or a pure tensor, got "
            f"{type(bounding_boxes)}."
        )
    valid = _valid(boxes, format_of(format), canvas_size, min_size, min_area)
    kept = boxes[valid]
    if isinstance(bounding_boxes, BoundingBoxes):
        kept = type(bounding_boxes).wrap(kept, bounding_boxes)
    return kept, valid


def _valid(
    boxes: Tensor,
    format: BoundingBoxFormat,
    canvas_size: Sequence[int],
    min_size: float,
    min_area: float,
) -> Tensor:
    height, width = canvas_size
    corners = to_corners(boxes, format)
    sizes = _sizes(boxes, format)
    x, y = corners.unbind(-1)
    inside = ((x >= 0) & (x <= width) & (y >= 0) & (y <= height)).all(-1)
    return inside & (sizes >= min_size).all(-1) & (sizes.prod(-1) >= min_area)


def _sizes(boxes: Tensor, format: BoundingBoxFormat) -> Tensor:
    rotated = is_rotated_bounding_format(format)
    new = BoundingBoxFormat.CXCYWHR if rotated else BoundingBoxFormat.XYWH
    return convert(boxes, format, new)[..., 2:4]
