"""Crops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flambeau import Tensor
from flambeau.vision.transforms import functional as first
from flambeau.vision.transforms._image import InterpolationMode
from flambeau.vision.transforms.v2.functional._arguments import Interpolation, mode_of, pair_of
from flambeau.vision.transforms.v2.functional._boxes import clamped
from flambeau.vision.transforms.v2.functional._dispatch import PIL, PIXELS, functional, kernel
from flambeau.vision.transforms.v2.functional._resize import (
    resize_bounding_boxes,
    resize_image,
    resize_keypoints,
    resize_mask,
)
from flambeau.vision.transforms.v2.functional._shift import shifted
from flambeau.vision.tv_tensors import BoundingBoxes, BoundingBoxFormat, KeyPoints, Mask

__all__ = [
    "center_crop",
    "center_crop_bounding_boxes",
    "center_crop_image",
    "center_crop_keypoints",
    "center_crop_mask",
    "crop",
    "crop_bounding_boxes",
    "crop_image",
    "crop_keypoints",
    "crop_mask",
    "five_crop",
    "five_crop_image",
    "resized_crop",
    "resized_crop_bounding_boxes",
    "resized_crop_image",
    "resized_crop_keypoints",
    "resized_crop_mask",
    "ten_crop",
    "ten_crop_image",
]

_Canvas = tuple[int, int]
_Size = int | Sequence[int]


@functional
def crop(inpt: Any, top: int, left: int, height: int, width: int) -> Any:
    """Crop a rectangle; pixels outside of the image are black."""


@kernel(crop, *PIXELS)
def crop_image(image: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """Crop a rectangle of an image tensor."""
    return first.crop(image, top, left, height, width)  # type: ignore[no-any-return]


kernel(crop, PIL)(first.crop)


@kernel(crop, Mask)
def crop_mask(mask: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """Crop a rectangle of a mask."""
    return crop_image(mask, top, left, height, width)


@kernel(crop, BoundingBoxes)
def crop_bounding_boxes(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat,
    top: int,
    left: int,
    height: int,
    width: int,
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, _Canvas]:
    """Return boxes relative to a crop of their image, and its size."""
    moved = shifted(bounding_boxes, format, -left, -top)
    return clamped(moved, format, (height, width), clamping_mode), (height, width)


@kernel(crop, KeyPoints)
def crop_keypoints(
    keypoints: Tensor, top: int, left: int, height: int, width: int
) -> tuple[Tensor, _Canvas]:
    """Return points relative to a crop of their image, and its size."""
    return keypoints - keypoints.new_tensor([left, top]), (height, width)


@functional
def center_crop(inpt: Any, output_size: _Size) -> Any:
    """Crop the centre; a smaller image is padded with black."""


def _middle(canvas_size: Sequence[int], output_size: _Size) -> tuple[int, int, int, int]:
    """Top, left, height and width of the centre crop of an image."""
    rows, columns = pair_of(output_size, "output_size")
    height, width = canvas_size
    # An odd pixel of padding goes to the bottom and the right, as in a crop.
    top = -((rows - height) // 2) if rows > height else round((height - rows) / 2)
    left = -((columns - width) // 2) if columns > width else round((width - columns) / 2)
    return top, left, rows, columns


@kernel(center_crop, *PIXELS)
def center_crop_image(image: Tensor, output_size: _Size) -> Tensor:
    """Crop the centre of an image tensor."""
    return crop_image(image, *_middle(image.shape[-2:], output_size))


@kernel(center_crop, PIL)
def _center_crop_pil(image: Any, output_size: _Size) -> Any:
    return first.crop(image, *_middle((image.height, image.width), output_size))


@kernel(center_crop, Mask)
def center_crop_mask(mask: Tensor, output_size: _Size) -> Tensor:
    """Crop the centre of a mask."""
    return center_crop_image(mask, output_size)


@kernel(center_crop, BoundingBoxes)
def center_crop_bounding_boxes(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat,
    canvas_size: Sequence[int],
    output_size: _Size,
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, _Canvas]:
    """Return boxes relative to the centre crop of their image, and its size."""
    place = _rounded_middle(canvas_size, output_size)
    return crop_bounding_boxes(bounding_boxes, format, *place, clamping_mode)


@kernel(center_crop, KeyPoints)
def center_crop_keypoints(
    inpt: Tensor, canvas_size: Sequence[int], output_size: _Size
) -> tuple[Tensor, _Canvas]:
    """Return points relative to the centre crop of their image, and its size."""
    return crop_keypoints(inpt, *_rounded_middle(canvas_size, output_size))


def _rounded_middle(canvas_size: Sequence[int], output_size: _Size) -> tuple[int, int, int, int]:
    """The centre crop for boxes and points, where half a pixel is rounded to even."""
    rows, columns = pair_of(output_size, "output_size")
    height, width = canvas_size
    return round((height - rows) / 2), round((width - columns) / 2), rows, columns


@functional
def resized_crop(
    inpt: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: _Size,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Any:
    """Crop a rectangle and resize it."""


@kernel(resized_crop, *PIXELS)
def resized_crop_image(
    image: Tensor,
    top: int,
    left: int,
    height: int,
    width: int,
    size: _Size,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Tensor:
    """Crop a rectangle of an image tensor and resize it."""
    image = crop_image(image, top, left, height, width)
    return resize_image(image, size, interpolation, antialias=antialias)


@kernel(resized_crop, PIL)
def _resized_crop_pil(
    image: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: _Size,
    interpolation: Interpolation = InterpolationMode.BILINEAR,
) -> Any:
    return first.resized_crop(image, top, left, height, width, size, mode_of(interpolation))


@kernel(resized_crop, Mask)
def resized_crop_mask(
    mask: Tensor, top: int, left: int, height: int, width: int, size: _Size
) -> Tensor:
    """Crop a rectangle of a mask and resize it, with nearest-neighbour sampling."""
    return resize_mask(crop_mask(mask, top, left, height, width), size)


@kernel(resized_crop, BoundingBoxes)
def resized_crop_bounding_boxes(
    bounding_boxes: Tensor,
    format: BoundingBoxFormat,
    top: int,
    left: int,
    height: int,
    width: int,
    size: _Size,
    clamping_mode: str | None = "soft",
) -> tuple[Tensor, _Canvas]:
    """Return boxes relative to a resized crop of their image, and its size."""
    boxes, canvas = crop_bounding_boxes(
        bounding_boxes, format, top, left, height, width, clamping_mode
    )
    return resize_bounding_boxes(boxes, canvas, size, None, format, clamping_mode)


@kernel(resized_crop, KeyPoints)
def resized_crop_keypoints(
    keypoints: Tensor, top: int, left: int, height: int, width: int, size: _Size
) -> tuple[Tensor, _Canvas]:
    """Return points relative to a resized crop of their image, and its size."""
    points, canvas = crop_keypoints(keypoints, top, left, height, width)
    return resize_keypoints(points, size, canvas)


@functional
def five_crop(inpt: Any, size: _Size) -> Any:
    """Crop the four corners (top left first, row by row) and the centre."""


@kernel(five_crop, *PIXELS)
def five_crop_image(image: Tensor, size: _Size) -> tuple[Tensor, ...]:
    """Crop the corners and the centre of an image tensor."""
    return first.five_crop(image, size)


kernel(five_crop, PIL)(first.five_crop)


@functional
def ten_crop(inpt: Any, size: _Size, vertical_flip: bool = False) -> Any:
    """Return five crops of an image and five of its mirror image."""


@kernel(ten_crop, *PIXELS)
def ten_crop_image(image: Tensor, size: _Size, vertical_flip: bool = False) -> tuple[Tensor, ...]:
    """Return five crops of an image tensor and five of its mirror image."""
    return first.ten_crop(image, size, vertical_flip)


kernel(ten_crop, PIL)(first.ten_crop)
