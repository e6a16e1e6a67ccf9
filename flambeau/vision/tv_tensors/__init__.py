"""Tensor subclasses for images, videos, boxes, points and masks, which transforms tell apart."""

from __future__ import annotations

from typing import Any

from flambeau import Tensor
from flambeau.vision.tv_tensors._bounding_boxes import (
    BoundingBoxes,
    BoundingBoxFormat,
    is_rotated_bounding_format,
)
from flambeau.vision.tv_tensors._keypoints import KeyPoints
from flambeau.vision.tv_tensors._pixels import Image, Mask, Video
from flambeau.vision.tv_tensors._return_type import set_return_type
from flambeau.vision.tv_tensors._tv_tensor import TVTensor

__all__ = [
    "BoundingBoxFormat",
    "BoundingBoxes",
    "Image",
    "KeyPoints",
    "Mask",
    "TVTensor",
    "Video",
    "is_rotated_bounding_format",
    "set_return_type",
    "wrap",
]


def wrap(wrappee: Tensor, *, like: Any, **kwargs: Any) -> Any:
    """Wrap a tensor like another tv_tensor.

    Keywords replace metadata, such as ``canvas_size``.
    """
    return like.wrap(wrappee, like, **kwargs) if isinstance(like, TVTensor) else wrappee
