"""Padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flambeau import Tensor
from flambeau.vision.transforms import _tensor
from flambeau.vision.transforms import functional as first
from flambeau.vision.transforms.v2.functional._arguments import sides_of
from flambeau.vision.transforms.v2.functional._boxes import clamped
from flambeau.vision.transforms.v2.functional._dispatch import PIL, PIXELS, functional, kernel
from flambeau.vision.transforms.v2.functional._shift import shifted
from flambeau.vision.tv_tensors import BoundingBoxes, BoundingBoxFormat, KeyPoints, Mask

__all__ = ["pad", "pad_bounding_boxes", "pad_image", "pad_keypoints", "pad_mask"]

_Padding = int | Sequence[int]
_Fill = float | Sequence[float] | None
_MODES = ("constant", "edge", "reflect", "symmetric")


@functional
def pad(inpt: Any, padding: _Padding, fill: _Fill = None, padding_mode: str = "constant") -> Any:
    """Pad on all sides.

    Args:
        inpt: Image, video, mask, boxes or key points.
        padding: One width for all sides, (left and right, top and bottom), or four widths.
        fill: Value of the padding. Default: None, for 0.
        padding_mode: `"constant"` (the default), `"edge"`, `"reflect"` or `"symmetric"`.

    Example:
        >>> from flambeau.vision.transforms.v2 import functional
        >>> functional.pad(torch.ones(1, 1, 2), [1, 0])
        tensor([[[0., 1., 1., 0.]]])

    See also:
        `vision.transforms.v2.Pad`.
    """


@kernel(pad, *PIXELS)
def pad_image(
    image: Tensor, padding: _Padding, fill: _Fill = None, padding_mode: str = "constant"
) -> Tensor:
    """Pad an image tensor with a constant, or with pixels from its edge."""
    sides = sides_of(padding)
    if padding_mode not in _MODES:
        raise ValueError(
            f"`padding_mode` should be either {', '.join(repr(mode) for mode in _MODES)}, but got "
            f"{padding_mode!r}."
        )
    if isinstance(fill, (list, tuple)) and len(fill) == 1:
        fill = fill[0]
    if padding_mode == "constant" and isinstance(fill, (list, tuple)):
        return _on_ground(image, sides, fill)
    ground = fill if isinstance(fill, (int, float)) else 0
    return _tensor.pad(image, sides, ground, padding_mode)


def _on_ground(image: Tensor, sides: list[int], fill: Sequence[float]) -> Tensor:
    """Place an image on a larger one of constant colour."""
    if len(fill) != image.shape[-3]:
        raise ValueError(
            f"fill should have one value or one for each of the {image.shape[-3]} channels, got "
            f"{len(fill)}"
        )
    image = _tensor.pad(image, [min(side, 0) for side in sides], 0, "constant")
    left, top, right, bottom = (max(side, 0) for side in sides)
    height, width = image.shape[-2:]
    ground = image.new_tensor(fill).view(-1, 1, 1)
    shape = (*image.shape[:-2], top + height + bottom, left + width + right)
    result = ground.expand(shape).clone()
    result[..., top : top + height, left : left + width] = image
    return result


@kernel(pad, PIL)
def _pad_pil(
    image: Any, padding: _Padding, fill: _Fill = None, padding_mode: str = "constant"
) -> Any:
    return first.pad(image, sides_of(padding), 0 if fill is None else fill, padding_mode)


@kernel(pad, Mask)
def pad_mask(
    mask: Tensor, padding: _Padding, fill: _Fill = None, padding_mode: str = "constant"
) -> Tensor:
    """Pad a mask."""
    if isinstance(fill, (list, tuple)):
        raise ValueError(f"Non-scalar fill value is not supported for masks, got {fill}")
    return pad_image(mask, padding, fill, padding_mode)


@kernel(pad, BoundingBoxes)
def pad_bounding_boxes(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat,
    canvas_size: Sequence[int],
    padding: _Padding,
    padding_mode: str = "constant",
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, tuple[int, int]]:
    """Return boxes relative to their padded image, and its size."""
    if padding_mode != "constant":
        raise ValueError(
            f"Padding mode '{padding_mode}' is not supported with bounding boxes: what is shown "
            "twice would need new boxes; use 'constant'"
        )
    left, top, _, _ = sides_of(padding)
    new_size = _padded(canvas_size, padding)
    boxes = shifted(bounding_boxes, format, left, top)
    return clamped(boxes, format, new_size, clamping_mode), new_size


@kernel(pad, KeyPoints)
def pad_keypoints(
    keypoints: Tensor,
    canvas_size: Sequence[int],
    padding: _Padding,
    padding_mode: str = "constant",
) -> tuple[Tensor, tuple[int, int]]:
    """Return points relative to their padded image, and its size."""
    if padding_mode != "constant":
        raise ValueError(
            f"Padding mode '{padding_mode}' is not supported with KeyPoints (supported modes are "
            "constant)"
        )
    left, top, _, _ = sides_of(padding)
    return keypoints + keypoints.new_tensor([left, top]), _padded(canvas_size, padding)


def _padded(canvas_size: Sequence[int], padding: _Padding) -> tuple[int, int]:
    left, top, right, bottom = sides_of(padding)
    return canvas_size[0] + top + bottom, canvas_size[1] + left + right
