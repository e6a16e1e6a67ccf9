"""`vision.utils` and `vision.io` against torchvision."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import flambeau
from flambeau.vision import io as our_io
from flambeau.vision import utils as ours
from tests.conformance import vision_oracle

theirs = vision_oracle.load("utils")
BYTES = np.random.default_rng(1).integers(0, 256, (5, 3, 30, 40), dtype=np.uint8)
Call = Callable[[Any, Any, Any], Any]

GRIDS: dict[str, Call] = {
    "batch": lambda u, t, x: u.make_grid(x),
    "rows": lambda u, t, x: u.make_grid(x, nrow=2, padding=3, pad_value=0.5),
    "normalize": lambda u, t, x: u.make_grid(x * 3 - 1, normalize=True),
    "each": lambda u, t, x: u.make_grid(x * 3 - 1, normalize=True, scale_each=True),
    "range": lambda u, t, x: u.make_grid(x, normalize=True, value_range=(0.2, 0.7)),
    "list": lambda u, t, x: u.make_grid([x[0], x[1]]),
    "grey": lambda u, t, x: u.make_grid(x[:, :1], nrow=3),
    "one": lambda u, t, x: u.make_grid(x[0]),
    "plane": lambda u, t, x: u.make_grid(x[0, 0]),
}


@pytest.mark.parametrize("name", GRIDS)
def test_grids(name: str) -> None:
    mine = GRIDS[name](ours, flambeau, flambeau.tensor(BYTES) / 255)
    other = GRIDS[name](theirs, torch, torch.tensor(BYTES) / 255)
    np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-6, atol=1e-6)


def _masks(t: Any) -> Any:
    masks = t.zeros(2, 30, 40, dtype=t.bool)
    masks[0, 3:12] = True
    masks[1, :, 10:20] = True
    return masks


def _boxes(t: Any) -> Any:
    return t.tensor([[2.0, 3.0, 20.0, 25.0], [10, 5, 30, 28]])


def _turned(t: Any) -> Any:
    return t.tensor([[3.0, 12, 24, 3, 28, 14, 7.5, 23], [20, 5, 35, 5, 35, 25, 20, 25]])


def _points(t: Any) -> Any:
    return t.tensor([[[4.0, 5.0], [20.0, 9.0], [30.0, 20.0]]])


DRAWINGS: dict[str, Call] = {
    "masks": lambda u, t, x: u.draw_segmentation_masks(x, _masks(t)),
    "mask": lambda u, t, x: u.draw_segmentation_masks(x, _masks(t)[0], 0.3, "red"),
    "colors": lambda u, t, x: u.draw_segmentation_masks(x, _masks(t), colors=["red", (1, 2, 3)]),
    "boxes": lambda u, t, x: u.draw_bounding_boxes(x, _boxes(t)),
    "filled": lambda u, t, x: u.draw_bounding_boxes(x, _boxes(t), colors="blue", fill=True),
    "wide": lambda u, t, x: u.draw_bounding_boxes(x, _boxes(t), colors=["red", "lime"], width=3),
    "labels": lambda u, t, x: u.draw_bounding_boxes(x, _boxes(t), ["a", "b"], "red"),
    "grey": lambda u, t, x: u.draw_bounding_boxes(x[:1], _boxes(t)),
    "turned": lambda u, t, x: u.draw_bounding_boxes(x, _turned(t), colors=["red", "lime"]),
    "turned wide": lambda u, t, x: u.draw_bounding_boxes(x, _turned(t), width=3, fill=True),
    "points": lambda u, t, x: u.draw_keypoints(x, _points(t), colors="red", radius=3),
    "lines": lambda u, t, x: u.draw_keypoints(x, _points(t), [(0, 1), (1, 2)], "red"),
}


@pytest.mark.parametrize("is_float", [False, True])
@pytest.mark.parametrize("name", DRAWINGS)
def test_drawings(name: str, is_float: bool) -> None:
    pictures = []
    for package, t in ((ours, flambeau), (theirs, torch)):
        image = t.tensor(BYTES[0])
        pictures.append(DRAWINGS[name](package, t, image / 255 if is_float else image).numpy())
    np.testing.assert_allclose(*pictures, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shape", [(2, 20, 30), (3, 2, 8, 9)])
def test_flows(shape: tuple[int, ...]) -> None:
    flow = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    mine, other = (
        ours.flow_to_image(flambeau.tensor(flow)),
        theirs.flow_to_image(torch.tensor(flow)),
    )
    assert mine.tolist() == other.tolist()


def test_files(tmp_path: Path) -> None:
    """The same file of the same images, byte for byte."""
    for folder, package, t in (("a", ours, flambeau), ("b", theirs, torch)):
        (tmp_path / folder).mkdir()
        package.save_image(t.tensor(BYTES) / 255, tmp_path / folder / "grid.png", nrow=3)
    assert (tmp_path / "a/grid.png").read_bytes() == (tmp_path / "b/grid.png").read_bytes()


def _encoded(mode: str, suffix: str, path: Path, **options: Any) -> Path:
    file = path / f"image.{suffix}"
    image = Image.fromarray(BYTES[0].transpose(1, 2, 0)).resize((64, 48)).convert(mode)
    image.save(file, **options)
    return file


def _exif(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


if vision_oracle.has_operators():
    their_io = vision_oracle.load("io")

    # Not an alpha channel for palettes and bits: the oracle mixes up their pixels.
    @pytest.mark.parametrize(
        ("mode", "wanted"),
        [
            *itertools.product(("L", "LA", "RGB", "RGBA", "P", "1"), ("UNCHANGED", "GRAY", "RGB")),
            *itertools.product(("L", "LA", "RGB", "RGBA"), ("RGB_ALPHA", "GRAY_ALPHA")),
        ],
    )
    def test_png(mode: str, wanted: str, tmp_path: Path) -> None:
        file = _encoded(mode, "png", tmp_path)
        mine = our_io.read_image(file, our_io.ImageReadMode[wanted])
        other = their_io.read_image(str(file), their_io.ImageReadMode[wanted])
        assert mine.shape == other.shape
        assert mine.stride() == other.stride()
        assert (mine.numpy() == other.numpy()).all()

    # Not 0: uncompressed blocks end where zlib was handed the next row.
    @pytest.mark.parametrize("level", [1, 6, 9])
    @pytest.mark.parametrize("channels", [1, 3])
    def test_encoded_png(channels: int, level: int) -> None:
        """The same file, byte for byte, of images that fill the window of zlib."""
        smooth = Image.fromarray(BYTES[0].transpose(1, 2, 0)).resize((160, 120))
        pixels = np.asarray(smooth).transpose(2, 0, 1)[:channels].copy()
        files = [
            package.encode_png(t.tensor(pixels), level).numpy()
            for package, t in ((our_io, flambeau), (their_io, torch))
        ]
        assert np.array_equal(*files)

    @pytest.mark.parametrize("wanted", ["UNCHANGED", "GRAY", "RGB"])
    @pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
    @pytest.mark.parametrize("orientation", [1, 3, 6])
    def test_jpeg(mode: str, wanted: str, orientation: int, tmp_path: Path) -> None:
        file = _encoded(mode, "jpg", tmp_path, exif=_exif(orientation))
        mine = our_io.read_image(file, wanted, apply_exif_orientation=True)
        other = their_io.read_image(
            str(file), their_io.ImageReadMode[wanted], apply_exif_orientation=True
        )
        assert (mine.numpy() == other.numpy()).all()
        if mode != "CMYK" and wanted == "UNCHANGED":
            encoded = [our_io.encode_jpeg(mine, 60), their_io.encode_jpeg(other, 60)]
            assert np.array_equal(*(each.numpy() for each in encoded))

    def test_unfinished_jpeg(tmp_path: Path) -> None:
        """Both refuse a file that ends early, were it by its last byte."""
        data = _encoded("RGB", "jpg", tmp_path).read_bytes()
        for count in (10, 100, len(data) // 2, len(data) - 2, len(data) - 1):
            for package, t in ((our_io, flambeau), (their_io, torch)):
                part = t.frombuffer(bytearray(data[:count]), dtype=t.uint8)
                with pytest.raises(RuntimeError, match="incomplete or truncated"):
                    package.decode_jpeg(part)
