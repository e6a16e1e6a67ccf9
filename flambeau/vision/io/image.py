"""Reading and writing images, by Pillow."""

from __future__ import annotations

import io
import os
import warnings
from enum import Enum
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.serialization._atomic import replacing
from flambeau.vision._pillow import pillow
from flambeau.vision.transforms._pil.convert import from_pil, to_pil

__all__ = [
    "ImageReadMode",
    "decode_avif",
    "decode_gif",
    "decode_heic",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "decode_webp",
    "encode_jpeg",
    "encode_png",
    "read_file",
    "read_image",
    "write_file",
    "write_jpeg",
    "write_png",
]

_Path = str | os.PathLike[str]


class ImageReadMode(Enum):
    """The channels an image is read with, whatever it has in its file."""

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4
    RGBA = RGB_ALPHA


_PIL_MODES = {
    ImageReadMode.GRAY: "L",
    ImageReadMode.GRAY_ALPHA: "LA",
    ImageReadMode.RGB: "RGB",
    ImageReadMode.RGB_ALPHA: "RGBA",
}
# What an image is read as where nothing is asked for. The numbers of a palette stay numbers:
# masks of segmentation are kept in that form.
_PLAIN_MODES = {"1": "L", "PA": "P", "YCbCr": "RGB"}


def read_file(path: _Path) -> Tensor:
    """Read the bytes of a file."""
    try:
        with open(path, "rb") as file:
            data = bytearray(file.read())
    except OSError as error:
        raise RuntimeError(f"{error}") from error
    return fb.frombuffer(data, dtype=fb.uint8) if data else fb.empty(0, dtype=fb.uint8)


def write_file(filename: _Path, data: Tensor) -> None:
    """Write bytes to a file, which appears when it is complete."""
    if not isinstance(data, Tensor) or data.dtype != fb.uint8 or data.ndim != 1:
        raise RuntimeError(f"Input tensor must be 1-dimensional and of type uint8, got {data!r}")
    with (
        replacing(os.fspath(filename)) as descriptor,
        os.fdopen(descriptor, "wb", closefd=False) as file,
    ):
        file.write(data.numpy().tobytes())


def read_image(
    path: _Path,
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    apply_exif_orientation: bool = False,
) -> Tensor:
    """Read an image file as a tensor (C, H, W) of bytes."""
    return _decode(read_file(path), mode, apply_exif_orientation, os.fspath(path))


def decode_image(
    input: Tensor | _Path,
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    apply_exif_orientation: bool = False,
) -> Tensor:
    """Make a tensor (C, H, W) of the bytes of an image file, or of a file's path."""
    if not isinstance(input, Tensor):
        return read_image(input, mode, apply_exif_orientation)
    return _decode(input, mode, apply_exif_orientation)


def decode_png(
    input: Tensor,
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    apply_exif_orientation: bool = False,
) -> Tensor:
    """Make a tensor of the bytes of a PNG file."""
    return _decode(input, mode, apply_exif_orientation, formats=["PNG"])


def decode_jpeg(
    input: Tensor | list[Tensor],
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    device: Any = "cpu",
    apply_exif_orientation: bool = False,
) -> Tensor | list[Tensor]:
    """Make a tensor of the bytes of a JPEG file, or several of several."""
    if isinstance(input, list):
        return [_decode(each, mode, apply_exif_orientation, formats=["JPEG"]) for each in input]
    return _decode(input, mode, apply_exif_orientation, formats=["JPEG"])


def decode_gif(input: Tensor) -> Tensor:
    """Make a tensor of the bytes of a GIF file: (N, 3, H, W) where it has several pictures."""
    image = _open(input, ["GIF"])
    frames = [from_pil(frame.convert("RGB")) for frame in pillow("ImageSequence").Iterator(image)]
    return frames[0] if len(frames) == 1 else fb.stack(frames)


def decode_webp(input: Tensor, mode: ImageReadMode | str = ImageReadMode.UNCHANGED) -> Tensor:
    """Make a tensor of the bytes of a WebP file."""
    return _decode(input, mode, False, formats=["WEBP"])


def decode_avif(input: Tensor, mode: ImageReadMode | str = ImageReadMode.UNCHANGED) -> Tensor:
    """Make a tensor of the bytes of an AVIF file, where Pillow was built with a decoder."""
    return _decode(input, mode, False, formats=["AVIF"])


def decode_heic(input: Tensor, mode: ImageReadMode | str = ImageReadMode.UNCHANGED) -> Tensor:
    """Refuse: Pillow does not read HEIC."""
    raise RuntimeError("HEIC images cannot be decoded: convert the file to PNG, JPEG or AVIF")


def encode_png(input: Tensor, compression_level: int = 6) -> Tensor:
    """Make the bytes of a PNG file of an image of 1 or 3 channels."""
    if not 0 <= compression_level <= 9:
        raise RuntimeError(f"Compression level should be between 0 and 9, got {compression_level}")
    return _encode(input, format="PNG", compress_level=compression_level)


def encode_jpeg(input: Tensor | list[Tensor], quality: int = 75) -> Tensor | list[Tensor]:
    """Make the bytes of a JPEG file of an image of 1 or 3 channels, or several of several."""
    if not 1 <= quality <= 100:
        raise ValueError("Image quality should be a positive number between 1 and 100")
    if isinstance(input, list):
        return [_encode(each, format="JPEG", quality=quality) for each in input]
    return _encode(input, format="JPEG", quality=quality)


def write_png(input: Tensor, filename: _Path, compression_level: int = 6) -> None:
    """Write an image as a PNG file."""
    write_file(filename, encode_png(input, compression_level))


def write_jpeg(input: Tensor, filename: _Path, quality: int = 75) -> None:
    """Write an image as a JPEG file."""
    data = encode_jpeg(input, quality)
    assert isinstance(data, Tensor)
    write_file(filename, data)


def _open(data: Tensor, formats: list[str] | None, name: str = "the given bytes") -> Any:
    if not isinstance(data, Tensor) or data.dtype != fb.uint8 or data.ndim != 1:
        raise RuntimeError("Expected a non empty 1-dimensional uint8 tensor of encoded bytes")
    if data.numel() == 0:
        raise RuntimeError(f"{name}: empty, an image was expected")
    image_module = pillow()
    try:
        # A photograph's metadata may break rules; only its pixels matter here.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = image_module.open(io.BytesIO(data.numpy().tobytes()), formats=formats)
            image.load()
    except (OSError, SyntaxError, ValueError, image_module.DecompressionBombError) as error:
        raise RuntimeError(f"{name}: not a whole image that can be decoded ({error})") from error
    return image


def _decode(
    data: Tensor,
    mode: ImageReadMode | str,
    upright: bool,
    name: str = "the given bytes",
    formats: list[str] | None = None,
) -> Tensor:
    image = _open(data, formats, name)
    if upright:
        image = pillow("ImageOps").exif_transpose(image)
    wanted = ImageReadMode[mode.upper()] if isinstance(mode, str) else mode
    if wanted is ImageReadMode.UNCHANGED:
        pil_mode = _PLAIN_MODES.get(image.mode, image.mode)
    else:
        pil_mode = _PIL_MODES[wanted]
    return from_pil(image if image.mode == pil_mode else image.convert(pil_mode))


def _encode(image: Tensor, **options: Any) -> Tensor:
    if not isinstance(image, Tensor) or image.dtype != fb.uint8:
        kind = image.dtype if isinstance(image, Tensor) else type(image)
        raise RuntimeError(f"Input tensor dtype should be uint8, got {kind}")
    if image.ndim != 3 or image.shape[0] not in (1, 3):
        raise RuntimeError(
            f"Input data should be 3-dimensional with 1 or 3 channels, got {tuple(image.shape)}"
        )
    buffer = io.BytesIO()
    to_pil(image.permute(1, 2, 0), None).save(buffer, **options)
    return fb.frombuffer(bytearray(buffer.getvalue()), dtype=fb.uint8)
