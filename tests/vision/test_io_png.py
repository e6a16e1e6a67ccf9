"""PNG files: every kind of pixel, filter and compression, and what bad files are told."""

from __future__ import annotations

import io as bytes_io
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import flambeau as fb
from flambeau.vision import io

SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # of a pixel, by the kind of colour
KINDS = [(0, 1), (0, 2), (0, 4), (0, 8), (2, 8), (3, 1), (3, 2), (3, 4), (3, 8), (4, 8), (6, 8)]
WIDE_KINDS = [(0, 16), (2, 16), (4, 16), (6, 16)]
GRIDS = (
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)


def part(kind: bytes, data: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + checksum


def rows(kind: tuple[int, int], width: int, height: int, seed: int) -> bytes:
    """Random rows in random filters; in neighbouring bytes there is something to compress."""
    random = np.random.default_rng(seed)
    size = (width * SAMPLES[kind[0]] * kind[1] + 7) // 8
    filters = random.integers(0, 5, (height, 1), dtype=np.uint8)
    noise = random.integers(0, 256, (height, size), dtype=np.uint8)
    ramp = (np.arange(size) // 5 * 3 + np.arange(height)[:, None]).astype(np.uint8)
    return np.hstack(
        [filters, np.where(random.random((height, size)) < 0.3, noise, ramp)]
    ).tobytes()


def png(
    kind: tuple[int, int],
    width: int = 21,
    height: int = 13,
    is_interlaced: bool = False,
    parts: bytes = b"",
    strategy: tuple[int, int] = (6, zlib.Z_DEFAULT_STRATEGY),
    piece: int = 1 << 20,
) -> bytes:
    """A PNG file of given pixels (kind of colour, bits of a sample)."""
    grids = GRIDS if is_interlaced else ((0, 0, 1, 1),)
    raw = b""
    for seed, (left, top, across, down) in enumerate(grids):
        columns, lines = -(-(width - left) // across), -(-(height - top) // down)
        if columns > 0 and lines > 0:
            raw += rows(kind, columns, lines, seed)
    deflater = zlib.compressobj(strategy[0], zlib.DEFLATED, 15, 8, strategy[1])
    data = deflater.compress(raw) + deflater.flush()
    header = struct.pack(">IIBBBBB", width, height, kind[1], kind[0], 0, 0, is_interlaced)
    if kind[0] == 3:
        colors = np.random.default_rng(9).integers(0, 256, 3 << kind[1], dtype=np.uint8)
        parts = part(b"PLTE", colors.tobytes()) + parts
    body = b"".join(part(b"IDAT", data[at : at + piece]) for at in range(0, len(data), piece))
    signature = b"\x89PNG\r\n\x1a\n"
    return signature + part(b"IHDR", header) + parts + body + part(b"IEND", b"")


def as_tensor(data: bytes) -> fb.Tensor:
    return fb.frombuffer(bytearray(data), dtype=fb.uint8)


def decode(data: bytes, mode: str = "UNCHANGED", **options: Any) -> np.ndarray[Any, Any]:
    return io.decode_png(as_tensor(data), mode, **options).numpy()


def by_pillow(data: bytes, mode: str | None = None) -> np.ndarray[Any, Any]:
    image = Image.open(bytes_io.BytesIO(data))
    pixels = np.asarray(image.convert(mode) if mode else image)
    return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)


@pytest.mark.parametrize("is_interlaced", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_pixels_are_pillow_s(kind: tuple[int, int], is_interlaced: bool) -> None:
    for width, height in ((1, 1), (3, 2), (5, 9), (40, 17)):
        data = png(kind, width, height, is_interlaced)
        plain = by_pillow(data, "L" if kind == (0, 1) else None)
        assert (decode(data) == plain).all()
        assert (decode(data, "RGB") == by_pillow(data, "RGB")).all()
        assert (decode(data, "RGBA") == by_pillow(data, "RGBA")).all()


@pytest.mark.parametrize("kind", KINDS + WIDE_KINDS)
def test_brightness(kind: tuple[int, int]) -> None:
    """libpng's: weights in 2^-15, bytes rounded down and wider numbers to the nearest."""
    data = png(kind)
    red, green, blue, alpha = decode(data, "RGBA").astype(np.int64)
    if kind[0] in (0, 4):
        expected = red
    else:
        half = 1 << 14 if kind[1] == 16 else 0
        expected = (9794 * red + 19234 * green + 3740 * blue + half) >> 15
    assert (decode(data, "GRAY")[0] == expected).all()
    assert (decode(data, "GRAY_ALPHA") == np.stack([expected, alpha])).all()


@pytest.mark.parametrize("kind", WIDE_KINDS)
def test_sixteen_bits_are_kept(kind: tuple[int, int]) -> None:
    image = io.decode_png(as_tensor(png(kind)))
    assert image.dtype == fb.int32
    assert image.shape == (SAMPLES[kind[0]], 13, 21)
    assert image.max() > 255
    gray = np.random.default_rng(0).integers(0, 65536, (5, 6), dtype=np.uint16)
    buffer = bytes_io.BytesIO()
    Image.fromarray(gray).save(buffer, "PNG")
    assert (decode(buffer.getvalue(), "RGB") == gray.astype(np.int32)).all()


def test_transparency() -> None:
    for kind, value in (((0, 8), (7,)), ((2, 8), (1, 2, 3))):
        shape = (4, 6) if len(value) == 1 else (4, 6, 3)
        image = Image.fromarray(np.random.default_rng(0).integers(0, 9, shape, dtype=np.uint8))
        image.putpixel((2, 1), value if len(value) > 1 else value[0])
        buffer = bytes_io.BytesIO()
        image.save(buffer, "PNG", transparency=value if len(value) > 1 else value[0])
        data = buffer.getvalue()
        assert decode(data).shape == (SAMPLES[kind[0]], 4, 6)
        assert decode(data, "RGBA")[3, 1, 2] == 0
        assert (decode(data, "RGBA") == by_pillow(data, "RGBA")).all()
    opacity = np.random.default_rng(2).integers(0, 256, 16, dtype=np.uint8).tobytes()
    data = png((3, 4), parts=part(b"tRNS", opacity))
    assert (decode(data, "RGBA") == by_pillow(data, "RGBA")).all()


@pytest.mark.parametrize("piece", [1, 17, 1 << 20])
@pytest.mark.parametrize("level", [0, 1, 6, 9])
@pytest.mark.parametrize(
    "strategy", [zlib.Z_DEFAULT_STRATEGY, zlib.Z_FIXED, zlib.Z_RLE, zlib.Z_HUFFMAN_ONLY]
)
def test_compression(level: int, strategy: int, piece: int) -> None:
    data = png((2, 8), 70, 40, strategy=(level, strategy), piece=piece)
    assert (decode(data) == by_pillow(data)).all()


def test_orientation() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    image = Image.fromarray(np.arange(24, dtype=np.uint8).reshape(4, 6))
    buffer = bytes_io.BytesIO()
    image.save(buffer, "PNG", exif=exif)
    upright = np.rot90(np.asarray(image), -1)
    assert (decode(buffer.getvalue(), apply_exif_orientation=True)[0] == upright).all()
    assert (decode(buffer.getvalue())[0] == np.asarray(image)).all()


def test_layout() -> None:
    assert io.decode_png(as_tensor(png((6, 8)))).stride() == (1, 84, 4)
    assert io.decode_png(as_tensor(png((0, 8)))).is_contiguous()


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("level", [0, 1, 6, 9])
def test_encoded(channels: int, level: int) -> None:
    random = np.random.default_rng(0)
    for size in ((1, 1), (1, 30), (50, 1), (37, 45)):
        ramp = np.add.outer(np.arange(size[0]), np.arange(size[1])).astype(np.uint8)
        pixels = np.stack([ramp * (c + 1) for c in range(channels)])
        pixels = pixels + random.integers(0, 4, pixels.shape, dtype=np.uint8)
        data = io.encode_png(fb.tensor(pixels), level).numpy().tobytes()
        Image.open(bytes_io.BytesIO(data)).verify()
        assert (by_pillow(data) == pixels).all()
        strided = fb.tensor(pixels).repeat_interleave(2, 2)[:, :, ::2]
        assert io.encode_png(strided, level).numpy().tobytes() == data


def test_unfinished_files(tmp_path: Path) -> None:
    data = png((2, 8), piece=100)
    for count in (8, 20, 60, 150, len(data) - 40):
        (tmp_path / "cut.png").write_bytes(data[:count])
        with pytest.raises(RuntimeError, match=r"cut\.png: Image is incomplete"):
            io.read_image(tmp_path / "cut.png")
    assert (decode(data[:-12]) == decode(data)).all()  # all of the pixels are there


def test_damaged_files() -> None:
    data = png((2, 8))
    rows_at = data.index(b"IDAT") + 4
    for at, message in (
        (rows_at + 9, "checksum of IDAT is wrong"),
        (17, "checksum of IHDR is wrong"),
        (1, "not png"),
    ):
        damaged = bytearray(data)
        damaged[at] ^= 0x10
        with pytest.raises(RuntimeError, match=message):
            decode(bytes(damaged))
    for change, message in (
        (struct.pack(">IIBBBBB", 0, 4, 8, 2, 0, 0, 0), "Invalid IHDR"),
        (struct.pack(">IIBBBBB", 4, 4, 3, 2, 0, 0, 0), "Invalid IHDR"),
        (struct.pack(">IIBBBBB", 4, 4, 8, 5, 0, 0, 0), "Invalid IHDR"),
        (struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 2), "Invalid IHDR"),
        (struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)[:12], "Invalid IHDR"),
        (struct.pack(">IIBBBBB", 1000, 1000, 8, 2, 0, 0, 0), "incomplete"),
        (struct.pack(">IIBBBBB", 21, 13, 16, 2, 0, 0, 0), "incomplete"),
    ):
        with pytest.raises(RuntimeError, match=message):
            decode(data[:8] + part(b"IHDR", change) + data[33:])
    with pytest.raises(RuntimeError, match="unknown part NEWS"):
        decode(data[:33] + part(b"NEWS", b"x") + data[33:])
    assert (decode(data[:33] + part(b"neWS", b"x") + data[33:]) == decode(data)).all()
    filters = zlib.compress(b"\x07" + bytes(3 * 21) * 13 + bytes(12))
    with pytest.raises(RuntimeError, match="filter 7"):
        decode(data[:33] + part(b"IDAT", filters))


@pytest.mark.parametrize("name", [b"\xd0\x91\xff\x80", b"ID T", b"\0\0\0\0"])
def test_names_of_parts(name: bytes) -> None:
    with pytest.raises(RuntimeError, match="the name of a part is not four letters"):
        decode(png((2, 8), parts=part(name, b"")))


def test_files_of_any_name(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff\xfe.png")
    path.write_bytes(png((2, 8)))
    assert io.read_image(path).shape == (3, 13, 21)
    path.write_bytes(png((2, 8))[:60])
    with pytest.raises(RuntimeError, match=r"\?\?\.png: Image is incomplete"):
        io.read_image(path)


def test_meta_tensors_have_no_file() -> None:
    image = fb.zeros(3, 4, 5, dtype=fb.uint8, device="meta")
    for refused in (io.encode_png, io.encode_jpeg, lambda image: io.decode_png(image.flatten())):
        with pytest.raises(RuntimeError, match="meta tensors, which have no elements"):
            refused(image)


def test_promised_pixels_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    header = struct.pack(">IIBBBBB", 1 << 30, 1 << 30, 8, 2, 0, 0, 0)
    data = png((2, 8))
    bomb = data[:8] + part(b"IHDR", header) + data[33:]
    with pytest.raises(RuntimeError, match="MAX_IMAGE_PIXELS"):
        decode(bomb)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    with pytest.raises(RuntimeError, match="1073741824 x 1073741824"):
        decode(bomb)
    fb.reset_peak_memory_stats()
    before = fb.memory_stats()["peak_allocated_bytes"]
    header = struct.pack(">IIBBBBB", 1 << 16, 1 << 16, 8, 2, 0, 0, 0)
    with pytest.raises(RuntimeError, match="incomplete"):
        decode(data[:8] + part(b"IHDR", header) + data[33:])
    assert fb.memory_stats()["peak_allocated_bytes"] < before + 1_000_000


def test_damage_is_survived() -> None:
    """Changed bytes whose checksums were made right give other pixels or an error."""
    random = np.random.default_rng(1)
    errors = 0
    for i in range(800):
        kind = (KINDS + WIDE_KINDS)[i % 15]
        data = png(kind, is_interlaced=i % 2 == 1, strategy=(i % 10, i % 5))
        start = data.index(b"IDAT") + 4
        body = bytearray(data[start:-16])
        for at in random.integers(0, len(body), 1 + i % 3):
            body[at] = random.integers(0, 256)
        try:
            decode(data[: start - 8] + part(b"IDAT", bytes(body)), "RGBA")
        except RuntimeError as error:
            errors += "the given bytes" in str(error)
    assert errors > 100
