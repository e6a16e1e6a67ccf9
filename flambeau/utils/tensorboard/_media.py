"""Summaries of images, videos and audio."""

from __future__ import annotations

import io
import warnings
import wave
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

import flambeau as fb
from flambeau.nn.functional import interpolate
from flambeau.utils.tensorboard._convert_np import make_np
from flambeau.utils.tensorboard._messages import Summary
from flambeau.utils.tensorboard._utils import convert_to_HWC, encode_png, make_grid, optional

__all__ = [
    "audio",
    "draw_boxes",
    "image",
    "image_boxes",
    "make_image",
    "make_video",
    "video",
]

_Array = np.ndarray[Any, Any]
_RED = (255, 0, 0)
_THICKNESS = 2  # of the sides of a box, in pixels


def image(tag: str, tensor: Any, rescale: float = 1, dataformats: str = "NCHW") -> Summary:
    """An image, or several in a grid; floating point between 0 and 1, or bytes."""
    pixels = _as_bytes(convert_to_HWC(make_np(tensor), dataformats))
    return Summary(value=[Summary.Value(tag=tag, image=make_image(pixels, rescale))])


def image_boxes(
    tag: str,
    tensor_image: Any,
    tensor_boxes: Any,
    rescale: float = 1,
    dataformats: str = "CHW",
    labels: Sequence[str] | None = None,
) -> Summary:
    """An image with boxes ``(left, top, right, bottom)`` drawn on it."""
    pixels = _as_bytes(convert_to_HWC(make_np(tensor_image), dataformats))
    drawn = make_image(pixels, rescale, rois=make_np(tensor_boxes), labels=labels)
    return Summary(value=[Summary.Value(tag=tag, image=drawn)])


def make_image(
    tensor: _Array,
    rescale: float = 1,
    rois: _Array | None = None,
    labels: Sequence[str] | None = None,
) -> Any:
    """A PNG of bytes ``(height, width, channels)``, with boxes `rois` if there are any."""
    if rois is not None:
        tensor = draw_boxes(tensor, rois, labels)
    if rescale != 1:
        tensor = _resized(tensor, rescale)
    height, width, channels = tensor.shape
    return Summary.Image(
        height=height,
        width=width,
        colorspace=channels,
        encoded_image_string=encode_png(tensor),
    )


def draw_boxes(disp_image: _Array, boxes: _Array, labels: Sequence[str] | None = None) -> _Array:
    """Draw boxes in red on a copy of an image, and a label above each of them."""
    if labels is not None and len(labels) != len(boxes):
        raise ValueError(f"{len(labels)} labels for {len(boxes)} boxes: one is needed for each")
    drawn = disp_image.copy()
    for box in np.asarray(boxes).reshape(-1, 4):
        _draw_box(drawn, *(max(0, round(float(side))) for side in box))
    return drawn if labels is None else _with_labels(drawn, boxes, labels)


def _draw_box(pixels: _Array, left: int, top: int, right: int, bottom: int) -> None:
    rows, columns = slice(top, bottom + 1), slice(left, right + 1)
    for side in range(_THICKNESS):
        for place in (
            (top + side, columns),
            (max(0, bottom - side), columns),
            (rows, left + side),
            (rows, max(0, right - side)),
        ):
            if all(
                isinstance(p, slice) or p < n for p, n in zip(place, pixels.shape, strict=False)
            ):
                pixels[(*place, slice(3))] = _RED


def _with_labels(pixels: _Array, boxes: _Array, labels: Sequence[str]) -> _Array:
    picture = optional("PIL.Image", "Pillow", "a label of a box").fromarray(pixels)
    pen = import_module("PIL.ImageDraw").Draw(picture)
    for (left, top, *_), label in zip(boxes, labels, strict=True):
        _, _, width, height = pen.textbbox((0, 0), label)
        corner = (float(left), max(0.0, float(top) - height))
        pen.rectangle((corner, (corner[0] + width, corner[1] + height)), fill=_RED)
        pen.text(corner, label, fill="black")
    return np.asarray(picture)


def _resized(pixels: _Array, factor: float) -> _Array:
    height, width = (int(size * factor) for size in pixels.shape[:2])
    channels = fb.from_numpy(pixels).permute(2, 0, 1)[None].float()
    resized = interpolate(channels, size=(height, width), mode="bicubic", antialias=True)
    resized_bytes: _Array = resized.round().clamp(0, 255).byte()[0].permute(1, 2, 0).numpy()
    return resized_bytes


def _as_bytes(values: _Array) -> _Array:
    if values.dtype == np.uint8:
        return values
    return (values.astype(np.float32) * 255).clip(0, 255).astype(np.uint8)


def video(tag: str, tensor: Any, fps: float = 4) -> Summary:
    """A video ``(N, T, C, H, W)`` as a GIF; several of them side by side."""
    array = make_np(tensor)
    if array.ndim != 5:
        raise AssertionError(f"a video must have the dimensions N, T, C, H, W; got {array.shape}")
    frames = [_as_bytes(make_grid(frame).transpose(1, 2, 0)) for frame in array.swapaxes(0, 1)]
    return Summary(value=[Summary.Value(tag=tag, image=make_video(frames, fps))])


def make_video(tensor: Sequence[_Array], fps: float) -> Any:
    """A GIF of frames ``(height, width, 3)`` of bytes."""
    pillow = optional("PIL.Image", "Pillow", "add_video, which writes GIFs,")
    first, *others = (pillow.fromarray(frame) for frame in tensor)
    file = io.BytesIO()
    first.save(file, "GIF", save_all=True, append_images=others, duration=round(1000 / fps), loop=0)
    height, width, channels = tensor[0].shape
    return Summary.Image(
        height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue()
    )


def audio(tag: str, tensor: Any, sample_rate: int = 44100) -> Summary:
    """Audio of one channel, amplitudes between -1 and 1."""
    samples = make_np(tensor).squeeze()
    if samples.ndim != 1:
        raise AssertionError(f"audio must have one dimension; got the shape {samples.shape}")
    if np.abs(samples).max(initial=0) > 1:
        warnings.warn("amplitudes beyond 1 are cut off", stacklevel=3)
        samples = samples.clip(-1, 1)
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(sample_rate)
        sound.writeframes((samples * np.iinfo(np.int16).max).astype("<i2").tobytes())
    content = Summary.Audio(
        sample_rate=sample_rate,
        num_channels=1,
        length_frames=len(samples),
        encoded_audio_string=file.getvalue(),
        content_type="audio/wav",
    )
    return Summary(value=[Summary.Value(tag=tag, audio=content)])
