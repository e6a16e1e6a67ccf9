"""Clamping and removal of key points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.transforms.v2.functional._dispatch import is_pure_tensor
from flambeau.vision.tv_tensors import KeyPoints

__all__ = ["clamp_keypoints", "sanitize_keypoints"]


def clamp_keypoints(inpt: Any, canvas_size: Sequence[int] | None = None) -> Any:
    """Clamp points to their image."""
    if is_pure_tensor(inpt):
        if canvas_size is None:
            raise ValueError("For pure tensor inputs, `canvas_size` has to be passed.")
        return _clamped(inpt, canvas_size)
    if not isinstance(inpt, KeyPoints):
        raise TypeError(
            "Input can either be a plain tensor or a keypoints tv_tensor, but got "
            f"{type(inpt)} instead."
        )
    if canvas_size is not None:
        raise ValueError("For keypoints tv_tensor inputs, `canvas_size` must not be passed.")
    points = _clamped(inpt.as_subclass(Tensor), inpt.canvas_size)
    return type(inpt).wrap(points, inpt)


def _clamped(points: Tensor, canvas_size: Sequence[int]) -> Tensor:
    height, width = canvas_size
    x, y = points.unbind(-1)
    return fb.stack((x.clamp(0, width - 1), y.clamp(0, height - 1)), -1)


def sanitize_keypoints(
    key_points: Any, canvas_size: Sequence[int] | None = None
) -> tuple[Any, Tensor]:
    """Return the points, or groups of points, that are all within their image, and which."""
    if isinstance(key_points, KeyPoints):
        if canvas_size is not None:
            raise ValueError(
                "canvas_size must be None when key_points is a tv_tensors.KeyPoints instance. Got "
                f"canvas_size={canvas_size}. Leave it to None or pass key_points as a pure tensor."
            )
        points, canvas_size = key_points.as_subclass(Tensor), key_points.canvas_size
    elif is_pure_tensor(key_points):
        if canvas_size is None:
            raise ValueError(
                "canvas_size cannot be None if key_points is a pure tensor. Set it to an "
                "appropriate value or pass key_points as a tv_tensors.KeyPoints object."
            )
        points = key_points
    else:
        raise ValueError(
            "key_points must be a tv_tensors.KeyPoints instance or a pure tensor, got "
            f"{type(key_points)}."
        )
    height, width = canvas_size
    x, y = points.unbind(-1)
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    valid = inside.flatten(1).all(1) if inside.ndim > 1 else inside
    kept = points[valid]
    if isinstance(key_points, KeyPoints):
        kept = type(key_points).wrap(kept, key_points)
    return kept, valid
