"""Horizontal and vertical flips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.transforms import functional as first
from flambeau.vision.transforms.v2.functional._dispatch import PIL, PIXELS, functional, kernel
from flambeau.vision.transforms.v2.functional._formats import convert
from flambeau.vision.tv_tensors import (
    BoundingBoxes,
    BoundingBoxFormat,
    KeyPoints,
    Mask,
    is_rotated_bounding_format,
)

__all__ = [
    "hflip",
    "horizontal_flip",
    "horizontal_flip_bounding_boxes",
    "horizontal_flip_image",
    "horizontal_flip_keypoints",
    "horizontal_flip_mask",
    "vertical_flip",
    "vertical_flip_bounding_boxes",
    "vertical_flip_image",
    "vertical_flip_keypoints",
    "vertical_flip_mask",
    "vflip",
]


@functional
def horizontal_flip(inpt: Any) -> Any:
    """Flip left to right."""


@functional
def vertical_flip(inpt: Any) -> Any:
    """Flip upside down."""


hflip = horizontal_flip
vflip = vertical_flip


@kernel(horizontal_flip, *PIXELS)
def horizontal_flip_image(image: Tensor) -> Tensor:
    """Flip an image tensor left to right."""
    return image.flip(-1)


@kernel(vertical_flip, *PIXELS)
def vertical_flip_image(image: Tensor) -> Tensor:
    """Flip an image tensor upside down."""
    return image.flip(-2)


kernel(horizontal_flip, PIL)(first.hflip)
kernel(vertical_flip, PIL)(first.vflip)


@kernel(horizontal_flip, Mask)
def horizontal_flip_mask(mask: Tensor) -> Tensor:
    """Flip a mask left to right."""
    return mask.flip(-1)


@kernel(vertical_flip, Mask)
def vertical_flip_mask(mask: Tensor) -> Tensor:
    """Flip a mask upside down."""
    return mask.flip(-2)


@kernel(horizontal_flip, BoundingBoxes)
def horizontal_flip_bounding_boxes(
    bounding_boxes: Tensor, format: BoundingBoxFormat, canvas_size: Sequence[int]
) -> Tensor:
    """Flip boxes left to right with their image."""
    return _mirrored(bounding_boxes, format, 0, canvas_size[1])


@kernel(vertical_flip, BoundingBoxes)
def vertical_flip_bounding_boxes(
    bounding_boxes: Tensor, format: BoundingBoxFormat, canvas_size: Sequence[int]
) -> Tensor:
    """Flip boxes upside down with their image."""
    return _mirrored(bounding_boxes, format, 1, canvas_size[0])


def _mirrored(boxes: Tensor, format: BoundingBoxFormat, axis: int, length: int) -> Tensor:
    if is_rotated_bounding_format(format):
        return _mirrored_rotated(boxes, format, axis, length)
    result = boxes.clone()
    near, far = boxes[..., axis], boxes[..., axis + 2]
    if format is BoundingBoxFormat.XYXY:
        result[..., axis], result[..., axis + 2] = length - far, length - near
    elif format is BoundingBoxFormat.XYWH:
        result[..., axis] = length - near - far
    else:
        result[..., axis] = length - near
    return result


def _mirrored_rotated(boxes: Tensor, format: BoundingBoxFormat, axis: int, length: int) -> Tensor:
    """Mirror rotated boxes: the angle changes its sign, measured from another side."""
    if format is BoundingBoxFormat.XYXYXYXY:
        corners = boxes.reshape(*boxes.shape[:-1], 4, 2).clone()
        corners[..., axis] = length - corners[..., axis]
        # Clockwise again, from the corner that was the second one.
        return corners[..., [1, 0, 3, 2], :].reshape(boxes.shape)
    result = convert(boxes, format, BoundingBoxFormat.CXCYWHR).clone()
    result[..., axis] = length - result[..., axis]
    result[..., 4] = (0 if axis == 0 else 180) - result[..., 4]
    return convert(result, BoundingBoxFormat.CXCYWHR, format)


@kernel(horizontal_flip, KeyPoints)
def horizontal_flip_keypoints(keypoints: Tensor, canvas_size: Sequence[int]) -> Tensor:
    """Flip points left to right with their image."""
    x, y = keypoints.unbind(-1)
    return fb.stack((canvas_size[1] - 1 - x, y), -1)


@kernel(vertical_flip, KeyPoints)
def vertical_flip_keypoints(keypoints: Tensor, canvas_size: Sequence[int]) -> Tensor:
    """Flip points upside down with their image."""
    x, y = keypoints.unbind(-1)
    return fb.stack((x, canvas_size[0] - 1 - y), -1)
