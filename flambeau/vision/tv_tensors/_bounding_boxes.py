"""Boxes on an image, axis-aligned or rotated."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.tv_tensors._tv_tensor import TVTensor

__all__ = [
    "BoundingBoxFormat",
    "BoundingBoxes",
    "check_clamping_mode",
    "format_of",
    "is_rotated_bounding_format",
    "size_of_canvas",
]


class BoundingBoxFormat(Enum):
    """Coordinates of a box: two corners, or one corner or the centre and the sides.

    The last three are for rotated boxes: R is an angle in degrees, counter-clockwise; four corners
    follow each other clockwise from the top left one.
    """

    XYXY = "XYXY"
    XYWH = "XYWH"
    CXCYWH = "CXCYWH"
    XYWHR = "XYWHR"
    CXCYWHR = "CXCYWHR"
    XYXYXYXY = "XYXYXYXY"


_ROTATED = (BoundingBoxFormat.XYWHR, BoundingBoxFormat.CXCYWHR, BoundingBoxFormat.XYXYXYXY)


def is_rotated_bounding_format(format: BoundingBoxFormat | str) -> bool:
    """Return whether boxes of a format may be rotated."""
    if isinstance(format, BoundingBoxFormat):
        return format in _ROTATED
    return format in [each.value for each in _ROTATED]


def format_of(format: BoundingBoxFormat | str) -> BoundingBoxFormat:
    """A format, also from its name."""
    if isinstance(format, BoundingBoxFormat):
        return format
    name = str(format).upper()
    if name not in BoundingBoxFormat.__members__:
        known = ", ".join(BoundingBoxFormat.__members__)
        raise KeyError(f"format of bounding boxes: expected one of {known}, got {format!r}")
    return BoundingBoxFormat[name]


def check_clamping_mode(mode: Any, *others: str) -> None:
    """Refuse an unknown clamping mode."""
    permitted = ("soft", "hard", *others)
    if mode is not None and mode not in permitted:
        raise ValueError(f"clamping_mode must be None, {', '.join(permitted)}, got {mode}")


class BoundingBoxes(TVTensor):
    """Boxes (N, K) on an image of ``canvas_size`` (height, width).

    K is 4 for axis-aligned boxes, 5 or 8 for rotated ones. ``clamping_mode`` says what happens to
    boxes that a transform moves out of the image: ``"hard"`` cuts them off at its edge,
    ``"soft"`` does so to axis-aligned boxes and less to rotated ones, None leaves them as they are.
    """

    format: BoundingBoxFormat
    canvas_size: tuple[int, int]
    clamping_mode: str | None

    def __new__(
        cls,
        data: Any,
        *,
        format: BoundingBoxFormat | str,
        canvas_size: Sequence[int],
        clamping_mode: str | None = "soft",
        dtype: fb.dtype | None = None,
        device: Any = None,
        requires_grad: bool | None = None,
    ) -> Any:
        format = format_of(format)
        tensor = cls._to_tensor(data, dtype, device, requires_grad)
        if tensor.ndim not in (1, 2):
            raise ValueError(
                f"Expected a 1D or 2D tensor, got {tensor.ndim}D: boxes of format {format.value} "
                f"of shape {tuple(tensor.shape)}"
            )
        if is_rotated_bounding_format(format) and not tensor.is_floating_point():
            raise ValueError(
                f"Rotated bounding boxes should be floating point tensors, got {tensor.dtype}."
            )
        check_clamping_mode(clamping_mode)
        boxes = tensor.unsqueeze(0) if tensor.ndim == 1 else tensor
        return cls._fb_say(boxes, format, canvas_size, clamping_mode)

    @classmethod
    def _fb_say(
        cls, tensor: Tensor, format: Any, canvas_size: Sequence[int], clamping_mode: str | None
    ) -> Any:
        boxes: Any = tensor.as_subclass(cls)
        boxes.format = format
        boxes.canvas_size = size_of_canvas(canvas_size)
        boxes.clamping_mode = clamping_mode
        return boxes

    @classmethod
    def wrap(cls, tensor: Tensor, like: Any, **kwargs: Any) -> Any:
        """Wrap boxes with the format, the canvas and the clamping mode of others, or new ones."""
        mode = kwargs.get("clamping_mode", like.clamping_mode)
        check_clamping_mode(mode)
        return cls._fb_say(
            tensor,
            format_of(kwargs.get("format", like.format)),
            kwargs.get("canvas_size", like.canvas_size),
            mode,
        )

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return self._make_repr(
            format=self.format, canvas_size=self.canvas_size, clamping_mode=self.clamping_mode
        )


def size_of_canvas(canvas_size: Any) -> tuple[int, int]:
    """The height and width of the image of boxes or points."""
    if not isinstance(canvas_size, (tuple, list)) or len(canvas_size) != 2:
        raise ValueError(f"canvas_size must be (height, width) of the image, got {canvas_size!r}")
    return canvas_size[0], canvas_size[1]
