"""Reading and writing images: JPEG and PNG by the core, other formats by Pillow."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau._display import png
from flambeau.vision.io import _native, _pillow
from flambeau.vision.io._files import (
    Path,
    check_bytes,
    check_elements,
    name_of,
    read_file,
    write_file,
)
from flambeau.vision.io._modes import ImageReadMode, read_mode

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

_UNNAMED = "the given bytes"


def read_image(
    path: Path,
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    apply_exif_orientation: bool = False,
) -> Tensor:
    """Read an image file as a tensor (C, H, W) of bytes.

    Args:
        path: Path of the file.
        mode: Colours of the result. Default: `ImageReadMode.UNCHANGED`, those of the file.
        apply_exif_orientation: Whether to apply the EXIF orientation. Default: False.

    Example:
        >>> from flambeau.vision import io
        >>> io.write_png(torch.zeros(3, 4, 6, dtype=torch.uint8), "black.png")
        >>> io.read_image("black.png").shape
        torch.Size([3, 4, 6])
    """
    return _decode(read_file(path), mode, apply_exif_orientation, name_of(path))


def decode_image(
    input: Tensor | Path,
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    apply_exif_orientation: bool = False,
) -> Tensor:
    """Decode an image file, given as bytes or by its path, to a tensor (C, H, W)."""
    if not isinstance(input, Tensor):
        return read_image(input, mode, apply_exif_orientation)
    return _decode(input, mode, apply_exif_orientation, _UNNAMED)


def decode_png(
    input: Tensor,
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    apply_exif_orientation: bool = False,
) -> Tensor:
    """Decode the bytes of a PNG file."""
    return _native.decode_png(input, _UNNAMED, read_mode(mode), apply_exif_orientation)


def decode_jpeg(
    input: Tensor | list[Tensor],
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    device: Any = "cpu",
    apply_exif_orientation: bool = False,
) -> Tensor | list[Tensor]:
    """Decode the bytes of a JPEG file, or of several files at once."""
    if device != "cpu":
        fb.empty(0, device=device)  # says what another device would need
    if not isinstance(input, list):
        return _native.decode_jpeg([input], [_UNNAMED], read_mode(mode), apply_exif_orientation)[0]
    if not input:
        raise ValueError("Input list must contain at least one element")
    names = [f"number {i} of the given list" for i in range(len(input))]
    return _native.decode_jpeg(input, names, read_mode(mode), apply_exif_orientation)


def decode_gif(input: Tensor) -> Tensor:
    """Decode the bytes of a GIF file: (N, 3, H, W) if it has several frames."""
    return _pillow.decode_frames(input, ["GIF"], _UNNAMED)


def decode_webp(input: Tensor, mode: ImageReadMode | str = ImageReadMode.UNCHANGED) -> Tensor:
    """Decode the bytes of a WebP file."""
    return _pillow.decode(input, read_mode(mode), False, _UNNAMED, ["WEBP"])


def decode_avif(input: Tensor, mode: ImageReadMode | str = ImageReadMode.UNCHANGED) -> Tensor:
    """Decode the bytes of an AVIF file, if Pillow was built with a decoder."""
    return _pillow.decode(input, read_mode(mode), False, _UNNAMED, ["AVIF"])


def decode_heic(input: Tensor, mode: ImageReadMode | str = ImageReadMode.UNCHANGED) -> Tensor:
    """Refuse: Pillow does not read HEIC."""
    raise RuntimeError("HEIC images cannot be decoded: convert the file to PNG, JPEG or AVIF")


def encode_png(input: Tensor, compression_level: int = 6) -> Tensor:
    """Encode an image of 1 or 3 channels as PNG."""
    if not 0 <= compression_level <= 9:
        raise RuntimeError(f"Compression level should be between 0 and 9, got {compression_level}")
    if not isinstance(input, Tensor):
        raise TypeError(f"expected a tensor, got {type(input).__name__}")
    check_elements(input)
    if input.dim() == 3 and input.shape[0] not in (1, 3):
        raise RuntimeError(f"The number of channels should be 1 or 3, got: {input.shape[0]}")
    return fb.frombuffer(png.encode(input, compression_level), dtype=fb.uint8)


def encode_jpeg(input: Tensor | list[Tensor], quality: int = 75) -> Tensor | list[Tensor]:
    """Encode an image of 1 or 3 channels, or several images, as JPEG."""
    if not 1 <= quality <= 100:
        raise ValueError("Image quality should be a positive number between 1 and 100")
    if not isinstance(input, list):
        return _native.encode_jpeg([input], quality)[0]
    if not input:
        raise ValueError("encode_jpeg requires at least one input tensor when a list is passed")
    return _native.encode_jpeg(input, quality)


def write_png(input: Tensor, filename: Path, compression_level: int = 6) -> None:
    """Write an image as a PNG file.

    Args:
        input: Tensor (C, H, W) of bytes, with 1 or 3 channels.
        filename: Path of the file.
        compression_level: 0 for speed to 9 for a small file. Default: 6.

    Example:
        >>> from flambeau.vision import io
        >>> io.write_png(torch.zeros(3, 4, 6, dtype=torch.uint8), "black.png")
        >>> io.read_image("black.png").shape
        torch.Size([3, 4, 6])
    """
    write_file(filename, encode_png(input, compression_level))


def write_jpeg(input: Tensor, filename: Path, quality: int = 75) -> None:
    """Write an image as a JPEG file.

    Args:
        input: Tensor (C, H, W) of bytes, with 1 or 3 channels.
        filename: Path of the file.
        quality: 1 to 100. Default: 75.

    Example:
        >>> from flambeau.vision import io
        >>> io.write_jpeg(torch.zeros(3, 4, 6, dtype=torch.uint8), "black.jpg", quality=90)
        >>> io.read_image("black.jpg").shape
        torch.Size([3, 4, 6])
    """
    data = encode_jpeg(input, quality)
    assert isinstance(data, Tensor)
    write_file(filename, data)


def _decode(data: Tensor, mode: ImageReadMode | str, upright: bool, name: str) -> Tensor:
    wanted, data = read_mode(mode), check_bytes(data, name)
    beginning = bytes(data[:4].tolist())
    if beginning.startswith(b"\xff\xd8\xff"):
        return _native.decode_jpeg([data], [name], wanted, upright)[0]
    if beginning == b"\x89PNG":
        return _native.decode_png(data, name, wanted, upright)
    if beginning == b"GIF8":
        return _pillow.decode_frames(data, ["GIF"], name)
    return _pillow.decode(data, wanted, upright, name)
