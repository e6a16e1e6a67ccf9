"""Resizing, cropping, flipping and padding."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from flambeau import Tensor
from flambeau.vision.transforms._image import (
    Image,
    InterpolationMode,
    dimensions,
    interpolation_of,
)
from flambeau.vision.transforms.functional._backend import backend

__all__ = [
    "center_crop",
    "crop",
    "erase",
    "five_crop",
    "hflip",
    "pad",
    "resize",
    "resized_crop",
    "ten_crop",
    "vflip",
]

_PAD_MODES = ("constant", "edge", "reflect", "symmetric")


def resize(
    img: Image,
    size: int | Sequence[int],
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Image:
    """Resize an image.

    Args:
        img: Tensor (*, C, H, W) or PIL image.
        size: (height, width), or one int for the shorter side.
        interpolation: `InterpolationMode` of the new pixels. Default: bilinear.
        max_size: Largest length of the longer side, where `size` is one int. Default: None.
        antialias: Whether to smooth a tensor that is made smaller. Default: True.

    Example:
        >>> from flambeau.vision.transforms import functional
        >>> functional.resize(torch.rand(3, 8, 8), [4, 6]).shape
        torch.Size([3, 4, 6])
    """
    mode = interpolation_of(interpolation)
    kernels = backend(img)
    _, height, width = dimensions(img)
    wanted = _resized(height, width, size, max_size)
    if wanted == [height, width]:
        return img
    if antialias is False and not isinstance(img, Tensor):
        warnings.warn(
            "Anti-alias option is always applied for PIL Image input: antialias=False is ignored.",
            stacklevel=2,
        )
    return kernels.resize(img, wanted, mode, antialias)


def _resized(
    height: int, width: int, size: int | Sequence[int] | None, max_size: int | None
) -> list[int]:
    if isinstance(size, (list, tuple)) and len(size) == 2:
        if max_size is not None:
            raise ValueError(
                "max_size should only be passed if size specifies the length of the smaller edge,"
                f" got size={size}"
            )
        return [int(size[0]), int(size[1])]
    if isinstance(size, (list, tuple)) and len(size) != 1:
        raise ValueError(f"Size must be an int or a 1 or 2 element tuple/list, got {size}")
    if not isinstance(size, (int, list, tuple)):
        raise TypeError(f"Size should be int or a sequence of ints, got {size!r}")
    shorter = size if isinstance(size, int) else size[0]
    short, long = min(height, width), max(height, width)
    if short == 0:
        raise ValueError(
            f"an image of {height} x {width} pixels has no aspect ratio to keep: "
            "give a size of both sides"
        )
    longer = int(shorter * long / short)
    if max_size is not None:
        if max_size <= shorter:
            raise ValueError(
                f"max_size = {max_size} must be strictly greater than the requested size for the "
                f"smaller edge size = {size}"
            )
        if longer > max_size:
            shorter, longer = int(max_size * shorter / longer), max_size
    return [longer, shorter] if width <= height else [shorter, longer]


def crop(img: Image, top: int, left: int, height: int, width: int) -> Image:
    """Crop a rectangle of an image; what lies outside is black.

    Args:
        img: Tensor (*, C, H, W) or PIL image.
        top: First row.
        left: First column.
        height: Number of rows.
        width: Number of columns.

    Example:
        >>> from flambeau.vision.transforms import functional
        >>> functional.crop(torch.arange(9).reshape(1, 3, 3), 1, 1, 2, 2)
        tensor([[[4, 5],
                 [7, 8]]])
    """
    return backend(img).crop(img, top, left, height, width)


def center_crop(img: Image, output_size: int | Sequence[int]) -> Image:
    """Crop an image at its centre; a smaller image is padded with 0.

    Args:
        img: Tensor (*, C, H, W) or PIL image.
        output_size: (height, width), or one int for a square.

    Example:
        >>> from flambeau.vision.transforms import functional
        >>> functional.center_crop(torch.rand(3, 8, 8), 4).shape
        torch.Size([3, 4, 4])
    """
    rows, columns = _height_width(output_size)
    _, height, width = dimensions(img)
    if columns > width or rows > height:
        missing = [max(columns - width, 0), max(rows - height, 0)]
        img = pad(img, [m // 2 for m in missing] + [(m + 1) // 2 for m in missing])
        _, height, width = dimensions(img)
        if (rows, columns) == (height, width):
            return img
    return crop(img, round((height - rows) / 2), round((width - columns) / 2), rows, columns)


def resized_crop(
    img: Image,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int],
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> Image:
    """Crop a rectangle and resize it."""
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def hflip(img: Image) -> Image:
    """Flip an image left to right."""
    return backend(img).hflip(img)


def vflip(img: Image) -> Image:
    """Flip an image upside down."""
    return backend(img).vflip(img)


def pad(
    img: Image,
    padding: int | Sequence[int],
    fill: float | Sequence[float] = 0,
    padding_mode: str = "constant",
) -> Image:
    """Pad an image: one width for all sides, (left and right, top and bottom), or four."""
    sides = [padding] if isinstance(padding, int) else padding
    if not isinstance(sides, (tuple, list)):
        raise TypeError(f"Got inappropriate padding arg: {padding!r}")
    if not isinstance(fill, (int, float, str, tuple, list)):
        raise TypeError(f"Got inappropriate fill arg: {fill!r}")
    if len(sides) not in (1, 2, 4):
        raise ValueError(
            f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(sides)} element "
            "tuple"
        )
    if padding_mode not in _PAD_MODES:
        raise ValueError(
            "Padding mode should be either constant, edge, reflect or symmetric, got "
            f"{padding_mode!r}"
        )
    sides = [*sides] * (4 // len(sides))
    return backend(img).pad(img, sides, fill, padding_mode)


def five_crop(img: Image, size: int | Sequence[int]) -> tuple[Image, Image, Image, Image, Image]:
    """Crop the four corners (top left first, row by row) and the centre."""
    rows, columns = _height_width(size)
    _, height, width = dimensions(img)
    if columns > width or rows > height:
        raise ValueError(
            f"Requested crop size {(rows, columns)} is bigger than input size {(height, width)}"
        )
    bottom, right = height - rows, width - columns
    top_left, top_right, bottom_left, bottom_right = (
        crop(img, top, left, rows, columns)
        for top, left in ((0, 0), (0, right), (bottom, 0), (bottom, right))
    )
    middle = center_crop(img, [rows, columns])
    return top_left, top_right, bottom_left, bottom_right, middle


def ten_crop(
    img: Image, size: int | Sequence[int], vertical_flip: bool = False
) -> tuple[Image, ...]:
    """Return five crops of an image and five of its mirror image."""
    mirrored = vflip(img) if vertical_flip else hflip(img)
    return five_crop(img, size) + five_crop(mirrored, size)


def erase(img: Tensor, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Tensor:
    """Set a rectangle, with its top left corner at row i and column j, to a value or a patch."""
    if not isinstance(img, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(img)}")
    result = img if inplace else img.clone()
    result[..., i : i + h, j : j + w] = v
    return result


def _height_width(size: int | float | Sequence[int]) -> tuple[int, int]:
    if isinstance(size, (int, float)):
        return int(size), int(size)
    if len(size) not in (1, 2):
        raise ValueError(f"Please provide only two dimensions (h, w) for size, got {size}")
    return size[0], size[-1]
