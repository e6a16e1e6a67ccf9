"""Resizing of PIL images: Pillow's sums, several at a time."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from flambeau import _C
from flambeau.vision._pillow import pillow
from flambeau.vision.transforms._image import InterpolationMode, pil_number
from flambeau.vision.transforms._pil.convert import pixels_of
from flambeau.vision.transforms._pil.memory import shown_pixels

__all__ = ["resampled"]

# Whether an image of (height, width) is summed along its columns first to get one of (height,
# width): because of rounding in between, the two orders differ.
_Order = Callable[[int, int, int, int], bool]

_KINDS = {
    InterpolationMode.BILINEAR: "smooth-linear",
    InterpolationMode.BICUBIC: "smooth-cubic",
    InterpolationMode.LANCZOS: "lanczos",
    InterpolationMode.BOX: "box",
    InterpolationMode.HAMMING: "hamming",
}
_MODES = ("L", "RGB")
_RAW = {1: "L", 3: "RGB", 4: "RGBX"}  # Pillow's mode for pixels of this many bytes
_BITS = 22  # fractional bits of Pillow's weights
_WORTH_COPYING = 1 << 20  # pixels: copying more takes about as long as Pillow does
_MOST_TALL = 50  # ratio of height to width: some versions treat taller images differently


def resampled(img: Any, size: list[int], mode: InterpolationMode) -> Any:
    """Resize an image, byte for byte as Pillow does; None if only Pillow can."""
    if mode not in _KINDS or img.mode not in _MODES or min(*size, *img.size) < 1:
        return None
    order = _order_of_pillow() if img.height <= _MOST_TALL * img.width else None
    return None if order is None else _resampled(img, size, mode, order)


def _resampled(img: Any, size: list[int], mode: InterpolationMode, order: _Order) -> Any:
    pixels = shown_pixels(img)
    if pixels is None:
        if img.width * img.height > _WORTH_COPYING:
            return None
        pixels = pixels_of(img)
    (height, width), kind = size, _KINDS[mode]
    planes = pixels.permute(2, 0, 1).unsqueeze(0)
    if order(img.height, img.width, height, width):
        planes = _C._resize_bytes(planes, height, img.width, kind, _BITS)
    planes = _C._resize_bytes(planes, height, width, kind, _BITS)
    memory = memoryview(planes[0].permute(1, 2, 0))
    raw = _RAW[pixels.shape[-1]]
    result = pillow().frombytes(img.mode, (width, height), memory, "raw", raw)
    result.info = img.info.copy()
    return result


def _never(height: int, width: int, new_height: int, new_width: int) -> bool:
    """The order up to Pillow 12."""
    return False


def _of_tall(height: int, width: int, new_height: int, new_width: int) -> bool:
    """The order of Pillow 13."""
    return new_height < height and height - new_height > 2 * (width - new_width)


@functools.cache
def _order_of_pillow() -> _Order | None:
    """The order of the installed Pillow, found by experiment; None if it has another."""
    tall = pillow().frombytes("L", (11, 23), bytes(i * i * 7 % 256 for i in range(11 * 23)))
    # Both sides of the limit, and far from it.
    sizes = [[11, 5], [10, 5], [20, 2], [4, 16], [30, 20]]
    for order in (_never, _of_tall):
        if all(_is_like_pillow(tall, size, mode, order) for size in sizes for mode in _KINDS):
            return order
    return None


def _is_like_pillow(img: Any, size: list[int], mode: InterpolationMode, order: _Order) -> bool:
    ours = _resampled(img, size, mode, order)
    theirs = img.resize((size[1], size[0]), pil_number(mode))
    return ours is not None and ours.tobytes() == theirs.tobytes()
