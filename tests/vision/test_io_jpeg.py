"""JPEG files: pixels, bytes and layout, by the core and by Pillow, and what bad files are told."""

from __future__ import annotations

import base64
import io as bytes_io
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import flambeau as fb
from flambeau.vision import io
from flambeau.vision.io import _native

SMOOTH = Image.fromarray(
    np.random.default_rng(0).integers(0, 256, (9, 12, 3), dtype=np.uint8)
).resize((90, 67), Image.Resampling.BICUBIC)

# 9 x 7 pixels whose colours have half the rows (4:4:0), which Pillow does not write.
TALL = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZG"
    "NywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09P"
    "T09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAAHAAkDARIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAA"
    "AAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAk"
    "M2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKT"
    "lJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QA"
    "HwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdh"
    "cRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hp"
    "anN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk"
    "5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDG0rQbi0dLmR4ikJEjBSckDnjiiqgyZI6P+2bP/nnL/wB8j/Gi"
    "tjKx/9k="
)


def encoded(image: Any, **options: Any) -> bytes:
    buffer = bytes_io.BytesIO()
    image.save(buffer, "JPEG", **options)
    return buffer.getvalue()


def as_tensor(data: bytes) -> fb.Tensor:
    return fb.frombuffer(bytearray(data), dtype=fb.uint8)


def pixels_of(image: Any) -> np.ndarray[Any, Any]:
    pixels = np.asarray(image)
    return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)


def decode(data: bytes, *arguments: Any, **options: Any) -> np.ndarray[Any, Any]:
    image = io.decode_jpeg(as_tensor(data), *arguments, **options)
    assert isinstance(image, fb.Tensor)
    return image.numpy()


@pytest.fixture(params=["as built", "by Pillow"])
def decoder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The core's decoder, and the one of builds without it."""
    if request.param == "by Pillow":
        monkeypatch.setattr(_native, "_HAS_JPEG", False)
    return str(request.param)


@pytest.mark.usefixtures("decoder")
@pytest.mark.parametrize("subsampling", [0, 1, 2])
@pytest.mark.parametrize("progressive", [False, True])
@pytest.mark.parametrize("options", [{}, {"restart_marker_blocks": 2}, {"quality": 20}])
def test_pixels_are_pillow_s(subsampling: int, progressive: bool, options: dict[str, int]) -> None:
    data = encoded(SMOOTH, subsampling=subsampling, progressive=progressive, **options)
    expected = pixels_of(Image.open(bytes_io.BytesIO(data)))
    assert (decode(data) == expected).all()
    assert (decode(data, "RGB") == expected).all()
    assert (decode(data, io.ImageReadMode.GRAY) == gray(data)).all()


def gray(data: bytes) -> np.ndarray[Any, Any]:
    """The brightness that a file has, which is not made of rounded colours."""
    image = Image.open(bytes_io.BytesIO(data))
    image.draft("L", image.size)
    return pixels_of(image)


@pytest.mark.usefixtures("decoder")
def test_other_samplings_and_colours() -> None:
    assert (decode(TALL) == pixels_of(Image.open(bytes_io.BytesIO(TALL)))).all()
    data = encoded(SMOOTH.convert("L"))
    expected = pixels_of(Image.open(bytes_io.BytesIO(data)))
    assert decode(data).shape == (1, 67, 90)
    assert (decode(data) == expected).all()
    assert (decode(data, "RGB") == expected.repeat(3, 0)).all()


@pytest.mark.usefixtures("decoder")
def test_inks() -> None:
    """The numbers of the file if it is read unchanged, light if that is asked for."""
    data = encoded(SMOOTH.convert("CMYK"))
    image = Image.open(bytes_io.BytesIO(data))
    assert (decode(data) == 255 - pixels_of(image)).all()
    assert (decode(data, "RGB") == pixels_of(image.convert("RGB"))).all()
    assert (decode(data, "GRAY") == pixels_of(image.convert("L"))).all()


@pytest.mark.usefixtures("decoder")
@pytest.mark.parametrize("orientation", range(10))
def test_orientation(orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(SMOOTH, exif=exif)
    image = Image.open(bytes_io.BytesIO(data))
    assert (decode(data) == pixels_of(image)).all()
    from PIL import ImageOps

    upright = pixels_of(ImageOps.exif_transpose(image))
    assert (decode(data, apply_exif_orientation=True) == upright).all()


@pytest.mark.usefixtures("decoder")
def test_damaged_metadata_is_no_orientation() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    data = encoded(SMOOTH, exif=exif)
    start = data.index(b"Exif\0\0") + 6
    for offset in range(24):
        for value in (0, 0x7F, 0xFF):
            damaged = bytearray(data)
            damaged[start + offset] = value
            assert decode(bytes(damaged), apply_exif_orientation=True).size == 3 * 67 * 90


@pytest.mark.usefixtures("decoder")
def test_layout() -> None:
    image = io.decode_jpeg(as_tensor(encoded(SMOOTH)))
    assert image.stride() == (1, 270, 3)
    assert io.decode_jpeg(as_tensor(encoded(SMOOTH.convert("L")))).is_contiguous()


@pytest.mark.usefixtures("decoder")
@pytest.mark.parametrize("quality", [1, 50, 75, 100])
def test_encoded_bytes_are_pillow_s(quality: int) -> None:
    for image in (SMOOTH, SMOOTH.convert("L")):
        pixels = fb.tensor(pixels_of(image).copy())
        expected = encoded(image, quality=quality)
        assert io.encode_jpeg(pixels, quality).numpy().tobytes() == expected
        strided = pixels.repeat_interleave(2, 2)[:, :, ::2]
        assert io.encode_jpeg(strided, quality).numpy().tobytes() == expected


@pytest.mark.usefixtures("decoder")
def test_lists() -> None:
    files = [as_tensor(encoded(SMOOTH.resize((8 * i, 5)))) for i in range(1, 20)]
    images = io.decode_jpeg(files, "GRAY")
    assert [image.shape for image in images] == [(1, 5, 8 * i) for i in range(1, 20)]
    again = io.decode_jpeg(io.encode_jpeg(images, 100))
    assert all((a.int() - b.int()).abs().max() < 8 for a, b in zip(images, again, strict=True))
    files[7] = files[7][:300]
    files[9] = files[9][:300]
    with pytest.raises(RuntimeError, match="number 7 of the given list"):
        io.decode_jpeg(files)
    with pytest.raises(ValueError, match="at least one"):
        io.decode_jpeg([])
    with pytest.raises(ValueError, match="at least one"):
        io.encode_jpeg([])


@pytest.mark.usefixtures("decoder")
def test_unfinished_files(tmp_path: Path) -> None:
    for progressive in (False, True):
        data = encoded(SMOOTH, progressive=progressive)
        for count in (3, 20, 200, 700, len(data) // 2, len(data) - 100):
            (tmp_path / "cut.jpg").write_bytes(data[:count])
            with pytest.raises(RuntimeError, match=r"cut\.jpg"):
                io.read_image(tmp_path / "cut.jpg")


@pytest.mark.usefixtures("decoder")
def test_bad_arguments() -> None:
    data = as_tensor(encoded(SMOOTH))
    with pytest.raises(RuntimeError, match="not supported for JPEG"):
        io.decode_jpeg(data, "RGBA")
    with pytest.raises(KeyError, match="choose one of UNCHANGED, GRAY"):
        io.decode_jpeg(data, "GREY")
    with pytest.raises(RuntimeError, match="uint8"):
        io.decode_jpeg(data.float())
    with pytest.raises(RuntimeError, match="1-dimensional and non-empty, got 2 dims"):
        io.decode_jpeg(data[None])
    with pytest.raises(RuntimeError, match="got 1 dims and 0 numels"):
        io.decode_jpeg(data[:0])
    with pytest.raises(TypeError, match="got bytes"):
        io.decode_jpeg(b"\xff\xd8")
    with pytest.raises(RuntimeError, match="the given bytes"):
        io.decode_jpeg(as_tensor(b"no image at all"))
    with pytest.raises(AssertionError, match="no device cuda"):
        io.decode_jpeg(data, device="cuda")
    image = fb.zeros(3, 4, 5, dtype=fb.uint8)
    for wrong, message in (
        (image.float(), "dtype should be uint8"),
        (image[0], "3-dimensional"),
        (image[:2], "should be 1 or 3, got: 2"),
        (image[:, :0], "0"),
    ):
        with pytest.raises(RuntimeError, match=message):
            io.encode_jpeg(wrong)
    with pytest.raises(ValueError, match="between 1 and 100"):
        io.encode_jpeg(image, quality=0)
    assert (io.decode_jpeg(data.repeat_interleave(2)[::2]) == io.decode_jpeg(data)).all()


@pytest.mark.usefixtures("decoder")
def test_promised_pixels_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A header of some bytes does not take the memory that it promises."""
    data = bytearray(encoded(SMOOTH))
    frame = data.index(b"\xff\xc0")
    data[frame + 5 : frame + 9] = (60000).to_bytes(2, "big") * 2
    (tmp_path / "bomb.jpg").write_bytes(data)
    fb.reset_peak_memory_stats()
    before = fb.memory_stats()["peak_allocated_bytes"]
    with pytest.raises(RuntimeError, match=r"bomb\.jpg.* raise PIL\.Image\.MAX_IMAGE_PIXELS"):
        io.read_image(tmp_path / "bomb.jpg")
    assert fb.memory_stats()["peak_allocated_bytes"] < before + 1_000_000
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 2000)
    with pytest.raises(RuntimeError, match="4000"):
        io.decode_jpeg(as_tensor(encoded(SMOOTH)))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    assert decode(encoded(SMOOTH)).shape == (3, 67, 90)


def test_scans_are_limited() -> None:
    """A progressive file that repeats one scan for ever is refused, not worked through."""
    data = encoded(SMOOTH, progressive=True)
    last = data.rindex(b"\xff\xda")
    repeated = data[:last] + data[last:-2] * 600 + data[-2:]
    if _native._HAS_JPEG:
        with pytest.raises(RuntimeError, match="more than 500 scans"):
            decode(repeated)


def test_damage_is_survived() -> None:
    """Bytes that were changed give other pixels or an error, and no memory is lost."""
    random = np.random.default_rng(1)
    files = [encoded(SMOOTH, progressive=progressive) for progressive in (False, True)]
    before = fb.memory_stats()["allocated_bytes"]
    errors = 0
    for i in range(600):
        data = np.frombuffer(files[i % 2], np.uint8).copy()
        data[random.integers(2, len(data), 1 + i % 7)] = random.integers(0, 256)
        try:
            image = io.decode_jpeg(fb.from_numpy(data))
            assert image.dtype == fb.uint8
            del image
        except RuntimeError as error:
            errors += "the given bytes" in str(error)
    assert errors > 50
    assert fb.memory_stats()["allocated_bytes"] <= before + 1_000_000


def test_threads_decode_at_once() -> None:
    """One decoder serves several Python threads without a lock."""
    data = encoded(SMOOTH.resize((640, 480)))
    expected = decode(data)
    right: list[bool] = []

    def work() -> None:
        right.extend((decode(data) == expected).all() for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 80
