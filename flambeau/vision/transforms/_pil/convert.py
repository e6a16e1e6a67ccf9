"""PIL images as tensors and tensors as PIL images, their pixels unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision._pillow import pillow
from flambeau.vision.transforms._pil.memory import shown_pixels

__all__ = ["bytes_of", "from_pil", "mode_of", "pixels_of", "through_tensor", "to_pil"]

_BYTES = {"L", "LA", "P", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr", "HSV", "LAB"}
# The possible modes for each number of channels; the first is the default.
_MODES = {
    2: ("LA",),
    3: ("RGB", "YCbCr", "HSV"),
    4: ("RGBA", "CMYK", "RGBX"),
}
_SINGLE = {fb.uint8: "L", fb.int16: "I;16", fb.int32: "I", fb.float32: "F"}


def pixels_of(img: Any) -> Tensor:
    """Return the pixels of an image in Pillow's order, (height, width, bands)."""
    if img.mode in _BYTES:
        data = bytearray(img.tobytes())
        # An image without pixels has no buffer.
        pixels = fb.frombuffer(data, dtype=fb.uint8) if data else fb.empty(0, dtype=fb.uint8)
    else:
        import numpy as np

        values = np.array(img)
        # Unsigned 16-bit integers are no element type: the next larger one holds them.
        pixels = fb.from_numpy(values.astype(np.int32) if img.mode.startswith("I;16") else values)
    return pixels.view(img.height, img.width, len(img.getbands()))


def from_pil(img: Any) -> Tensor:
    """Return the pixels of an image, (bands, height, width), in Pillow's memory order."""
    return pixels_of(img).permute(2, 0, 1)


def bytes_of(img: Any) -> Tensor | None:
    """Return the bytes of an image, (bands, height, width), to be read at once; else None.

    They are the image's own memory if Pillow exposes it.
    """
    if img.mode not in _BYTES:
        return None
    shown = shown_pixels(img)
    if shown is None:
        return from_pil(img)
    return shown[..., : len(img.getbands())].permute(2, 0, 1)


def mode_of(channels: int, dtype: fb.dtype, asked: str | None) -> str:
    """Return Pillow's mode for such pixels; ValueError if another was asked for."""
    if channels == 1:
        if dtype not in _SINGLE:
            raise TypeError(f"Input type {dtype} is not supported")
        permitted: tuple[str, ...] = (_SINGLE[dtype],)
    else:
        permitted = _MODES[channels]
        if dtype != fb.uint8:
            raise TypeError(f"Input type {dtype} is not supported for {channels} channels")
    if asked is None:
        return permitted[0]
    if asked not in permitted:
        raise ValueError(
            f"Incorrect mode ({asked}) supplied for input type {dtype} and {channels} channels. "
            f"Should be {' or '.join(permitted)}"
        )
    return asked


def to_pil(pixels: Tensor, mode: str | None) -> Any:
    """Make an image from pixels (height, width, channels)."""
    height, width, channels = pixels.shape
    mode = mode_of(channels, pixels.dtype, mode)
    module, size = pillow(), (width, height)
    if channels == 1 or pixels.is_contiguous():
        return module.frombytes(mode, size, pixels.contiguous().numpy().tobytes())
    planes = pixels.permute(2, 0, 1).contiguous().numpy()
    # Bands that are contiguous in memory are merged far faster than interleaved pixels are read.
    bands = [module.frombuffer("L", size, plane, "raw", "L", 0, 1) for plane in planes]
    return module.merge(mode, bands)


def through_tensor(img: Any, operator: Callable[[Tensor], Tensor]) -> Any:
    """Apply an operator on tensors to an image."""
    return to_pil(operator(from_pil(img)).permute(1, 2, 0), img.mode)
