"""Boxes and key points: conversion, clamping, and crops around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision._pillow import is_pil_image
from flambeau.vision.ops import box_iou
from flambeau.vision.transforms._random import below
from flambeau.vision.transforms.v2 import functional as F
from flambeau.vision.transforms.v2._query import get_bounding_boxes, has_any, query_size
from flambeau.vision.transforms.v2._transform import Transform
from flambeau.vision.transforms.v2.functional import is_pure_tensor
from flambeau.vision.transforms.v2.functional._formats import to_corners, upright_box
from flambeau.vision.tv_tensors import (
    BoundingBoxes,
    BoundingBoxFormat,
    Image,
    KeyPoints,
    Video,
)
from flambeau.vision.tv_tensors._bounding_boxes import check_clamping_mode

__all__ = [
    "ClampBoundingBoxes",
    "ClampKeyPoints",
    "ConvertBoundingBoxFormat",
    "RandomIoUCrop",
    "SetClampingMode",
]


class ConvertBoundingBoxFormat(Transform):
    """Convert boxes to another format.

    Args:
        format: `BoundingBoxFormat`, or its name.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> from flambeau.vision import tv_tensors
        >>> boxes = tv_tensors.BoundingBoxes([[2, 2, 12, 6]], format="XYXY", canvas_size=(8, 8))
        >>> v2.ConvertBoundingBoxFormat("XYWH")(boxes).tolist()
        [[2, 2, 10, 4]]
    """

    _transformed_types = (BoundingBoxes,)

    def __init__(self, format: BoundingBoxFormat | str) -> None:
        super().__init__()
        self.format = format

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.convert_bounding_box_format(inpt, new_format=self.format)


class ClampBoundingBoxes(Transform):
    """Clamp boxes to their image.

    Args:
        clamping_mode: `"soft"`, `"hard"`, None for no clamping, or `"auto"` (the default) for the
            boxes' own mode.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> from flambeau.vision import tv_tensors
        >>> boxes = tv_tensors.BoundingBoxes([[2, 2, 12, 6]], format="XYXY", canvas_size=(8, 8))
        >>> v2.ClampBoundingBoxes()(boxes).tolist()
        [[2, 2, 8, 6]]
    """

    _transformed_types = (BoundingBoxes,)

    def __init__(self, clamping_mode: str | None = "auto") -> None:
        super().__init__()
        check_clamping_mode(clamping_mode, "auto")
        self.clamping_mode = clamping_mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.clamp_bounding_boxes(inpt, clamping_mode=self.clamping_mode)


class ClampKeyPoints(Transform):
    """Clamp key points to their image.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> from flambeau.vision import tv_tensors
        >>> points = tv_tensors.KeyPoints([[3, 12]], canvas_size=(8, 8))
        >>> v2.ClampKeyPoints()(points).tolist()
        [[3, 7]]
    """

    _transformed_types = (KeyPoints,)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.clamp_keypoints(inpt)


class SetClampingMode(Transform):
    """Set the clamping mode of boxes for the transforms after this one.

    Args:
        clamping_mode: `"soft"`, `"hard"`, or None for no clamping.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> from flambeau.vision import tv_tensors
        >>> boxes = tv_tensors.BoundingBoxes([[2, 2, 6, 6]], format="XYXY", canvas_size=(8, 8))
        >>> v2.SetClampingMode("hard")(boxes).clamping_mode
        'hard'
    """

    _transformed_types = (BoundingBoxes,)

    def __init__(self, clamping_mode: str | None) -> None:
        super().__init__()
        check_clamping_mode(clamping_mode)
        self.clamping_mode = clamping_mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        boxes = inpt.clone()
        boxes.clamping_mode = self.clamping_mode
        return boxes


class RandomIoUCrop(Transform):
    """Random crop with a minimum overlap with a box (https://arxiv.org/abs/1512.02325).

    Boxes whose centre is outside of the crop get an area of 0; `SanitizeBoundingBoxes`
    removes them.

    Args:
        min_scale: Smallest share of a side. Default: 0.3.
        max_scale: Largest share of a side. Default: 1.
        min_aspect_ratio: Smallest width by height. Default: 0.5.
        max_aspect_ratio: Largest width by height. Default: 2.
        sampler_options: Overlaps to choose from, as intersection over union; 1 or more keeps the
            image. Default: (0, 0.1, 0.3, 0.5, 0.7, 0.9, 1).
        trials: Number of crops to try before another overlap is chosen. Default: 40.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> from flambeau.vision import tv_tensors
        >>> boxes = tv_tensors.BoundingBoxes([[2, 2, 6, 6]], format="XYXY", canvas_size=(8, 8))
        >>> image, boxes = v2.RandomIoUCrop()(torch.zeros(3, 8, 8), boxes)
        >>> tuple(image.shape[-2:]) == boxes.canvas_size
        True
    """

    def __init__(
        self,
        min_scale: float = 0.3,
        max_scale: float = 1.0,
        min_aspect_ratio: float = 0.5,
        max_aspect_ratio: float = 2.0,
        sampler_options: Sequence[float] | None = None,
        trials: int = 40,
    ) -> None:
        super().__init__()
        self.min_scale = min_scale
        self.max_scale = max_scale
        self.min_aspect_ratio = min_aspect_ratio
        self.max_aspect_ratio = max_aspect_ratio
        default = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]
        self.options: list[float] = default if sampler_options is None else list(sampler_options)
        self.trials = trials

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        shown = has_any(flat_inputs, is_pil_image, Image, Video, is_pure_tensor)
        if not (shown and has_any(flat_inputs, BoundingBoxes)):
            raise TypeError(
                f"{type(self).__name__}() requires input sample to contain tensor or PIL images "
                "and bounding boxes. Sample can also contain masks."
            )

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        size = query_size(flat_inputs)
        found = get_bounding_boxes(flat_inputs)
        boxes = upright_box(to_corners(found.as_subclass(Tensor), found.format))
        while True:
            least = self.options[below(len(self.options))]
            if least >= 1.0:  # the whole image
                return {}
            for _ in range(self.trials):
                drawn = self._fb_drawn(size, boxes, least)
                if drawn is not None:
                    return drawn

    def _fb_drawn(
        self, size: tuple[int, int], boxes: Tensor, least: float
    ) -> dict[str, Any] | None:
        """Draw one crop; None if its shape or contents do not fit."""
        height, width = size
        span = self.max_scale - self.min_scale
        across, down = (self.min_scale + span * fb.rand(2)).tolist()
        columns, rows = int(width * across), int(height * down)
        if not self.min_aspect_ratio <= columns / rows <= self.max_aspect_ratio:
            return None
        across, down = fb.rand(2).tolist()
        left, top = int((width - columns) * across), int((height - rows) * down)
        if columns == 0 or rows == 0:
            return None
        x, y = (boxes[..., :2] + boxes[..., 2:]).mul(0.5).unbind(-1)
        inside = (left < x) & (x < left + columns) & (top < y) & (y < top + rows)
        if not inside.any():
            return None
        crop = boxes.new_tensor([[left, top, left + columns, top + rows]])
        if box_iou(boxes[inside], crop).max() < least:
            return None
        return {"place": (top, left, rows, columns), "inside": inside}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if not params:
            return inpt
        output = self._call_kernel(F.crop, inpt, *params["place"])
        if isinstance(output, BoundingBoxes):
            output[~params["inside"]] = 0
        return output
