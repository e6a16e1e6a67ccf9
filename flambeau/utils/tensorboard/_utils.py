"""Layout of images: orders of dimensions, grids, figures; optional packages."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np

import flambeau as fb
from flambeau._display import png

__all__ = ["convert_to_HWC", "encode_png", "figure_to_image", "make_grid", "optional"]

_Array = np.ndarray[Any, Any]


def optional(module: str, package: str, purpose: str) -> Any:
    """Import a module that Flambeau does not depend on."""
    try:
        return import_module(module)
    except ImportError as problem:
        message = f"{purpose} needs {package}, which is not installed: pip install {package}"
        raise ImportError(message) from problem


def figure_to_image(figures: Any, close: bool = True) -> _Array:
    """Render a matplotlib figure: uint8 ``(3, height, width)``; of a list, ``(N, 3, ...)``."""
    agg = optional("matplotlib.backends.backend_agg", "matplotlib", "add_figure")

    def draw(figure: Any) -> _Array:
        canvas = agg.FigureCanvasAgg(figure)
        canvas.draw()
        pixels: _Array = np.asarray(canvas.buffer_rgba())[:, :, :3].transpose(2, 0, 1).copy()
        if close:
            import_module("matplotlib.pyplot").close(figure)
        return pixels

    return np.stack([draw(f) for f in figures]) if isinstance(figures, list) else draw(figures)


def encode_png(pixels: _Array) -> bytes:
    """The PNG file of an image of bytes ``(height, width, channels)``, with 1 to 4 channels."""
    return bytes(png.encode(fb.tensor(np.ascontiguousarray(pixels.transpose(2, 0, 1)))))


def make_grid(I: _Array, ncols: int = 8) -> _Array:  # noqa: E741  (PyTorch's name)
    """Arrange the images ``(N, C, H, W)`` in rows of `ncols`; one channel becomes three."""
    if not isinstance(I, np.ndarray) or I.ndim != 4:
        raise AssertionError(f"a grid is made of an array (N, C, H, W), not of {_described(I)}")
    if I.shape[1] == 1:
        I = I.repeat(3, axis=1)  # noqa: E741
    count, channels, height, width = I.shape
    columns = min(count, ncols)
    rows = math.ceil(count / columns)
    cells = np.zeros((rows * columns, channels, height, width), I.dtype)
    cells[:count] = I
    table = cells.reshape(rows, columns, channels, height, width).transpose(2, 0, 3, 1, 4)
    return table.reshape(channels, rows * height, columns * width)


def convert_to_HWC(tensor: _Array, input_format: str) -> _Array:
    """Convert images with dimensions in any order to one image of three or more channels.

    `input_format` has a letter for each dimension, such as ``"NCHW"``, ``"HWC"`` or ``"HW"``.
    """
    letters = input_format.upper()
    if len(set(letters)) != len(letters) or not {"H", "W"} <= set(letters) <= set("NCHW"):
        raise AssertionError(
            f"dataformats must be made of H and W, each once, and of N and C if they are there; "
            f"got {input_format!r}"
        )
    if tensor.ndim != len(letters):
        raise AssertionError(
            "size of input tensor and input format are different: "
            f"tensor shape: {tensor.shape}, input_format: {input_format}"
        )
    for missing in sorted(set("NC") - set(letters)):
        tensor, letters = tensor[None], missing + letters
    pictures = tensor.transpose([letters.index(letter) for letter in "NCHW"])
    return make_grid(pictures).transpose(1, 2, 0)


def _described(value: Any) -> str:
    return f"shape {value.shape}" if isinstance(value, np.ndarray) else str(type(value))
