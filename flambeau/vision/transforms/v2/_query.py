"""Queries of a sample: the types of its parts, and their size."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from flambeau.vision._pillow import is_pil_image
from flambeau.vision.transforms.v2.functional import (
    get_dimensions,
    get_size,
    is_pure_tensor,
)
from flambeau.vision.tv_tensors import BoundingBoxes, Image, KeyPoints, Mask, Video

__all__ = [
    "check_type",
    "get_bounding_boxes",
    "get_keypoints",
    "has_all",
    "has_any",
    "is_array",
    "query_chw",
    "query_size",
]

_Kind = type | Callable[[Any], bool]
IMAGES: tuple[_Kind, ...] = (is_pure_tensor, Image, Video, is_pil_image)
_PLACED: tuple[_Kind, ...] = (*IMAGES, Mask, BoundingBoxes, KeyPoints)


def is_array(value: Any) -> bool:
    """Whether a value is a NumPy array; NumPy is not imported to find out."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def check_type(obj: Any, types_or_checks: tuple[_Kind, ...]) -> bool:
    """Whether a value is of one of some types, or accepted by one of some functions.

    Args:
        obj: The value.
        types_or_checks: Types, or functions that return whether they accept a value.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> from flambeau.vision.transforms.v2 import check_type
        >>> check_type(torch.ones(2), (torch.Tensor,))
        True
    """
    for kind in types_or_checks:
        if isinstance(obj, kind) if isinstance(kind, type) else kind(obj):
            return True
    return False


def has_any(flat_inputs: list[Any], *types_or_checks: _Kind) -> bool:
    """Whether a part of a sample is of one of some types.

    Args:
        flat_inputs: The parts of the sample.
        *types_or_checks: Types, or functions that return whether they accept a part.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.has_any([torch.zeros(3, 8, 8), "label"], int, str)
        True
    """
    return any(check_type(each, types_or_checks) for each in flat_inputs)


def has_all(flat_inputs: list[Any], *types_or_checks: _Kind) -> bool:
    """Whether a sample has a part of each of some types.

    Args:
        flat_inputs: The parts of the sample.
        *types_or_checks: Types, or functions that return whether they accept a part.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.has_all([torch.zeros(3, 8, 8), "label"], torch.Tensor, str)
        True
    """
    return all(has_any(flat_inputs, kind) for kind in types_or_checks)


def get_bounding_boxes(flat_inputs: list[Any]) -> BoundingBoxes:
    """Return the first boxes of a sample.

    Args:
        flat_inputs: The parts of the sample.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> from flambeau.vision import tv_tensors
        >>> boxes = tv_tensors.BoundingBoxes([[2, 2, 12, 6]], format="XYXY", canvas_size=(8, 8))
        >>> v2.get_bounding_boxes([torch.zeros(3, 8, 8), boxes]).tolist()
        [[2, 2, 12, 6]]
    """
    for each in flat_inputs:
        if isinstance(each, BoundingBoxes):
            return each
    raise ValueError("No bounding boxes were found in the sample")


def get_keypoints(flat_inputs: list[Any]) -> KeyPoints:
    """Return the first key points of a sample.

    Args:
        flat_inputs: The parts of the sample.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> from flambeau.vision import tv_tensors
        >>> points = tv_tensors.KeyPoints([[3, 3]], canvas_size=(8, 8))
        >>> v2.get_keypoints([torch.zeros(3, 8, 8), points]).tolist()
        [[3, 3]]
    """
    for each in flat_inputs:
        if isinstance(each, KeyPoints):
            return each
    raise ValueError("No keypoints were found in the sample")


def query_chw(flat_inputs: list[Any]) -> tuple[int, int, int]:
    """Return channels, height and width of the images of a sample, which must agree.

    Args:
        flat_inputs: The parts of the sample.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.query_chw([torch.zeros(3, 8, 6)])
        (3, 8, 6)
    """
    sizes = {tuple(get_dimensions(each)) for each in flat_inputs if check_type(each, IMAGES)}
    if not sizes:
        raise TypeError(f"No image or video was found in the sample, only {_kinds(flat_inputs)}")
    if len(sizes) > 1:
        raise ValueError(f"Found multiple CxHxW dimensions in the sample: {_listed(sizes)}")
    return sizes.pop()


def query_size(flat_inputs: list[Any]) -> tuple[int, int]:
    """Return height and width of a sample, on which all of its parts must agree.

    Args:
        flat_inputs: The parts of the sample.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.query_size([torch.zeros(3, 8, 6)])
        (8, 6)
    """
    sizes = {tuple(get_size(each)) for each in flat_inputs if check_type(each, _PLACED)}
    if not sizes:
        raise TypeError(
            "No image, video, mask, bounding box or keypoint was found in the sample, only "
            f"{_kinds(flat_inputs)}"
        )
    if len(sizes) > 1:
        raise ValueError(f"Found multiple HxW dimensions in the sample: {_listed(sizes)}")
    return sizes.pop()


def _listed(sizes: set[Any]) -> str:
    return ", ".join(repr(str(size)) for size in sorted(sizes))


def _kinds(flat_inputs: list[Any]) -> list[str]:
    return [type(each).__name__ for each in flat_inputs]
