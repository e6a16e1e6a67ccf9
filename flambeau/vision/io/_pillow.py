"""Image files read and written by Pillow."""

from __future__ import annotations

import contextlib
import io
import struct
import warnings
from collections.abc import Iterator
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision._pillow import pillow
from flambeau.vision.io._files import check_bytes
from flambeau.vision.io._modes import ImageReadMode
from flambeau.vision.transforms._pil.convert import pixels_of, to_pil

__all__ = ["decode", "decode_frames", "encode"]

_PIL_MODES = {
    ImageReadMode.GRAY: "L",
    ImageReadMode.GRAY_ALPHA: "LA",
    ImageReadMode.RGB: "RGB",
    ImageReadMode.RGB_ALPHA: "RGBA",
}
# The mode in which an image is read if none is asked for. Palette indices stay indices:
# segmentation masks are stored in that form.
_PLAIN_MODES = {"1": "L", "PA": "P", "YCbCr": "RGB"}
_WIDE_MODES = {"I", "I;16", "I;16B"}  # 16-bit grey, which int32 holds
_WIDEST = 65535
_ORIENTATION = 0x0112  # the EXIF tag of the orientation
_TRANSPOSITIONS = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}


def decode(
    data: Tensor,
    mode: ImageReadMode,
    upright: bool,
    name: str,
    formats: list[str] | None = None,
) -> Tensor:
    """Decode a file to (C, H, W); errors begin with `name`."""
    file = io.BytesIO(check_bytes(data, name).numpy())
    with _reading(name):
        image = pillow().open(file, formats=formats)
        is_jpeg = image.format == "JPEG"
        if is_jpeg and mode is ImageReadMode.GRAY:
            image.draft("L", None)  # the luma is in the file: no conversion through RGB
        image.load()
        if upright:
            image = _upright(image)
        if image.mode in _WIDE_MODES:
            return _wide(_channels_first(image), mode)
        if is_jpeg and image.mode == "CMYK" and mode is ImageReadMode.UNCHANGED:
            return 255 - _channels_first(image)  # as they are in the file
        return _channels_first(_converted(image, mode))


def decode_frames(data: Tensor, formats: list[str], name: str) -> Tensor:
    """Decode an animation in RGB, (N, 3, H, W); (3, H, W) for a single frame."""
    file = io.BytesIO(check_bytes(data, name).numpy())
    with _reading(name):
        image = pillow().open(file, formats=formats)
        every = pillow("ImageSequence").Iterator(image)
        frames = [_channels_first(frame.convert("RGB")) for frame in every]
        return frames[0] if len(frames) == 1 else fb.stack(frames)


def encode(image: Tensor, **options: Any) -> Tensor:
    """Encode an image (1 or 3, H, W) of bytes."""
    if not isinstance(image, Tensor) or image.dtype != fb.uint8:
        kind = image.dtype if isinstance(image, Tensor) else type(image)
        raise RuntimeError(f"Input tensor dtype should be uint8, got {kind}")
    if image.ndim != 3:
        raise RuntimeError(
            f"Input data should be a 3-dimensional tensor, got {image.ndim} dimensions"
        )
    if image.shape[0] not in (1, 3):
        raise RuntimeError(f"The number of channels should be 1 or 3, got: {image.shape[0]}")
    if image.numel() == 0:
        raise RuntimeError(f"cannot encode an image without pixels, got shape {tuple(image.shape)}")
    buffer = io.BytesIO()
    to_pil(image.permute(1, 2, 0), None).save(buffer, **options)
    return fb.frombuffer(bytearray(buffer.getvalue()), dtype=fb.uint8)


@contextlib.contextmanager
def _reading(name: str) -> Iterator[None]:
    """Turn errors of Pillow into ours, with the name of the file."""
    bomb = pillow().DecompressionBombError
    try:
        # The metadata of a photograph may be malformed; only its pixels matter here.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except bomb as error:
        raise RuntimeError(
            f"{name}: {error} If you trust the file, raise PIL.Image.MAX_IMAGE_PIXELS "
            "(twice that is the limit; None is no limit)"
        ) from error
    except Exception as error:
        # On damaged files some of its decoders raise whatever their code runs into.
        raise RuntimeError(f"{name}: not a whole image that can be decoded ({error})") from error


def _upright(image: Any) -> Any:
    """Return the image rotated as its metadata says; unchanged if they are damaged."""
    try:
        orientation = image.getexif().get(_ORIENTATION)
    except (OSError, SyntaxError, ValueError, struct.error):
        return image
    transposition = _TRANSPOSITIONS.get(orientation) if isinstance(orientation, int) else None
    return image.transpose(pillow().Transpose[transposition]) if transposition else image


def _channels_first(image: Any) -> Tensor:
    return pixels_of(image).permute(2, 0, 1)


def _wide(gray: Tensor, mode: ImageReadMode) -> Tensor:
    """Return 16-bit values with the requested channels."""
    channels = [gray] * (3 if mode in (ImageReadMode.RGB, ImageReadMode.RGB_ALPHA) else 1)
    if mode in (ImageReadMode.GRAY_ALPHA, ImageReadMode.RGB_ALPHA):
        channels.append(fb.full_like(gray, _WIDEST))
    return fb.cat(channels)


def _converted(image: Any, mode: ImageReadMode) -> Any:
    if mode is ImageReadMode.UNCHANGED:
        wanted = _PLAIN_MODES.get(image.mode, image.mode)
    else:
        wanted = _PIL_MODES[mode]
    return image if image.mode == wanted else image.convert(wanted)
