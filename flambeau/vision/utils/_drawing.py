"""Boxes, masks and points drawn on images."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision._pillow import pillow
from flambeau.vision.transforms._pil.convert import from_pil, to_pil
from flambeau.vision.transforms._tensor.convert import convert_dtype

__all__ = ["draw_bounding_boxes", "draw_keypoints", "draw_segmentation_masks"]

_Color = str | tuple[int, int, int]
_Colors = list[_Color] | _Color | None
# Multiples of these, modulo 255, are far apart from each other.
_PALETTE = (2**25 - 1, 2**15 - 1, 2**21 - 1)


def draw_bounding_boxes(
    image: Tensor,
    boxes: Tensor,
    labels: list[str] | None = None,
    colors: _Colors = None,
    fill: bool | None = False,
    width: int = 1,
    font: str | None = None,
    font_size: int | None = None,
    label_colors: _Colors = None,
    label_background_colors: _Colors = None,
    fill_labels: bool = False,
) -> Tensor:
    """Draw boxes on an image, each with a label if given.

    Axis-aligned boxes (N, 4) are left, top, right, bottom; rotated ones (N, 8) are four corners.
    """
    _check_image(image)
    if boxes.ndim != 2 or boxes.shape[1] not in (4, 8):
        raise ValueError(f"boxes should have shape (N, 4) or (N, 8), got {tuple(boxes.shape)}")
    upright = boxes.shape[1] == 4
    if upright and ((boxes[:, 0] > boxes[:, 2]) | (boxes[:, 1] > boxes[:, 3])).any():
        raise ValueError("Boxes need to be in (xmin, ymin, xmax, ymax) format.")
    count = boxes.shape[0]
    if labels is not None and len(labels) != count:
        raise ValueError(
            f"The number of boxes ({count}) and labels ({len(labels)}) mismatch. "
            "Please specify labels for each box."
        )
    if count == 0:
        return image
    outlines = _color_list(colors, count)
    texts = outlines if label_colors is None else _color_list(label_colors, count)
    grounds = _color_list(label_background_colors, count) if fill_labels else None
    if fill_labels and label_background_colors is None:
        grounds = outlines
    typeface = _font(font, font_size)
    with _canvas(image, "RGBA" if fill else None) as (draw, result):
        for position, box in enumerate(boxes.to(fb.int64).tolist()):
            color = outlines[position]
            shape = draw.rectangle if upright else partial(_rotated_box, draw)
            shape(box, width=width, outline=color, fill=(*color, 100) if fill else None)
            if labels is not None and labels[position] is not None:
                corner = (box[0] + width + 1, box[1] + width + 1)
                if grounds is not None:
                    draw.rectangle(
                        draw.textbbox(corner, labels[position], font=typeface),
                        fill=grounds[position],
                    )
                draw.text(corner, labels[position], fill=texts[position], font=typeface)
    return result[0]


def _rotated_box(draw: Any, box: list[int], width: int, outline: Any, fill: Any) -> None:
    """Draw four sides; the first one, which shows the rotation of the box, is dashed."""
    if fill is not None:
        draw.polygon(box, fill=fill)
    x1, y1, x2, y2, *_ = box
    length, dash = math.hypot(x2 - x1, y2 - y1), 5
    for start in range(0, math.ceil(length), 2 * dash):
        begin, end = start / length, min(start + dash, length) / length
        ends = [(x1 + share * (x2 - x1), y1 + share * (y2 - y1)) for share in (begin, end)]
        draw.line(ends, fill=outline, width=width)
    for at in (2, 4, 6):
        draw.line((box * 2)[at : at + 4], fill=outline, width=width)


def draw_segmentation_masks(
    image: Tensor, masks: Tensor, alpha: float = 0.8, colors: _Colors = None
) -> Tensor:
    """Overlay colours on the parts of an image that masks (N, H, W) mark.

    ``alpha`` is the opacity of the colours. Where masks overlap the colour is black.
    """
    _check_image(image)
    masks = masks[None] if masks.ndim == 2 else masks
    if masks.ndim != 3:
        raise ValueError("masks must be of shape (H, W) or (batch_size, H, W)")
    if masks.dtype != fb.bool:
        raise ValueError(f"The masks must be of dtype bool. Got {masks.dtype}")
    if masks.shape[-2:] != image.shape[-2:]:
        raise ValueError("The image and the masks must have the same height and width")
    count = masks.shape[0]
    if count == 0:
        return image
    layer = image.clone()
    for mask, color in zip(masks, _color_list(colors, count), strict=True):
        shade = convert_dtype(fb.tensor(color, dtype=fb.uint8), image.dtype)
        layer = fb.where(mask, shade[:, None, None], layer)
    layer = layer.masked_fill(masks.sum(0) > 1, 0)
    mixed = (image * (1 - alpha) + layer * alpha).to(image.dtype)
    return fb.where(masks.any(0), mixed, image)


def draw_keypoints(
    image: Tensor,
    keypoints: Tensor,
    connectivity: list[tuple[int, int]] | None = None,
    colors: _Color | None = None,
    radius: int = 2,
    width: int = 3,
    visibility: Tensor | None = None,
) -> Tensor:
    """Draw points (instances, K, 2) and the lines between the pairs in ``connectivity``."""
    _check_image(image)
    if keypoints.ndim != 3:
        raise ValueError("keypoints must be of shape (num_instances, K, 2)")
    shown = fb.ones(keypoints.shape[:-1], dtype=fb.bool) if visibility is None else visibility
    if shown.ndim == 3:
        shown = shown.squeeze(-1)
    if shown.shape != keypoints.shape[:-1]:
        raise ValueError(
            f"keypoints and visibility must have the same dimensionality, got "
            f"{tuple(keypoints.shape)} and {tuple(shown.shape)}"
        )
    with _canvas(image) as (draw, result):
        for points, visible in zip(
            keypoints.to(fb.int64).tolist(), shown.bool().tolist(), strict=True
        ):
            for (x, y), is_shown in zip(points, visible, strict=True):
                if is_shown:
                    disc = (x - radius, y - radius, x + radius, y + radius)
                    draw.ellipse(disc, fill=colors)
            for start, end in connectivity or ():
                if visible[start] and visible[end]:
                    draw.line((*points[start], *points[end]), width=width)
    return result[0]


def _check_image(image: Any) -> None:
    if not isinstance(image, Tensor):
        raise TypeError(f"The image must be a tensor, got {type(image)}")
    if image.dtype != fb.uint8 and not image.is_floating_point():
        raise ValueError(f"The image dtype must be uint8 or float, got {image.dtype}")
    if image.ndim != 3:
        raise ValueError(f"Pass individual images, not batches: shape {tuple(image.shape)}")
    if image.shape[0] not in (1, 3):
        raise ValueError("Pass an RGB image. Other Image formats are not supported")


@contextmanager
def _canvas(image: Tensor, mode: str | None = None) -> Iterator[tuple[Any, list[Tensor]]]:
    """Give a Pillow canvas of an image, and a list that holds the result at the end."""
    result: list[Tensor] = []
    pixels = convert_dtype(image, fb.uint8).expand(3, -1, -1)
    picture = to_pil(pixels.permute(1, 2, 0), None)
    yield pillow("ImageDraw").Draw(picture, mode), result
    result.append(convert_dtype(from_pil(picture), image.dtype))


def _color_list(colors: Any, count: int) -> list[tuple[int, int, int]]:
    """One colour (red, green, blue) for each object."""
    if colors is None:
        return [tuple(i * step % 255 for step in _PALETTE) for i in range(count)]  # type: ignore[misc]
    if isinstance(colors, list):
        if len(colors) < count:
            raise ValueError(
                f"Number of colors must be equal or larger than the number of objects, but got "
                f"{len(colors)} < {count}."
            )
    elif isinstance(colors, (str, tuple)):
        colors = [colors] * count
    else:
        raise ValueError(f"colors must be a tuple or a string, or a list of them, got {colors!r}")
    name_to_color = pillow("ImageColor").getrgb
    return [name_to_color(color) if isinstance(color, str) else color for color in colors]


def _font(name: str | None, size: int | None) -> Any:
    fonts = pillow("ImageFont")
    return fonts.load_default() if name is None else fonts.truetype(name, size=size or 10)
