"""Optical flow and stereo matching, from small data sets in their published layouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, UnidentifiedImageError

import flambeau as fb
from flambeau.vision import datasets
from flambeau.vision.datasets._dense_files import read_flo, read_pfm, read_rgb16
from tests.vision.published import LAYOUTS
from tests.vision.published.paired import flo, noise, pfm, rgb16

# A layout, a call, how many samples it gives, and how many things are in each.
CALLS = [
    ("sintel", "Sintel(root)", 2, 3),
    ("sintel", "Sintel(root, 'test', 'both')", 4, 3),
    ("kitti_flow", "KittiFlow(root)", 2, 4),
    ("hd1k", "HD1K(root)", 3, 4),
    ("hd1k", "HD1K(root, 'test')", 1, 4),
    ("flying_chairs", "FlyingChairs(root)", 3, 3),
    ("flying_chairs", "FlyingChairs(root, 'val')", 1, 3),
    ("flying_things", "FlyingThings3D(root, camera='both')", 8, 3),
    ("carla", "CarlaStereo(root)", 2, 3),
    ("kitti2012", "Kitti2012Stereo(root)", 2, 4),
    ("kitti2015", "Kitti2015Stereo(root)", 2, 4),
    ("crestereo", "CREStereo(root)", 4, 4),
    ("falling_things", "FallingThingsStereo(root, 'both')", 2, 3),
    ("scene_flow", "SceneFlowStereo(root, 'Monkaa', 'both')", 2, 3),
    ("sintel_stereo", "SintelStereo(root)", 2, 4),
    ("instereo2k", "InStereo2k(root)", 1, 3),
    ("eth3d", "ETH3DStereo(root)", 1, 4),
    ("middlebury", "Middlebury2014Stereo(root, calibration='both')", 2, 4),
]


@pytest.mark.parametrize(("layout", "call", "length", "things"), CALLS)
def test_samples(layout: str, call: str, length: int, things: int, tmp_path: Path) -> None:
    LAYOUTS[layout](tmp_path)
    data = eval(f"datasets.{call}", {"datasets": datasets, "root": tmp_path})
    assert len(data) == length
    for number in range(length):
        sample = data[number]
        assert len(sample) == things
        assert [picture.size for picture in sample[:2]] == [(8, 6), (8, 6)]
        if sample[2] is not None:
            channels = 1 if "tereo" in call else 2
            assert sample[2].shape == (channels, 6, 8)


@pytest.mark.parametrize("name", sorted({call.split("(")[0] for _, call, _, _ in CALLS}))
def test_missing_files(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"{tmp_path}"):
        getattr(datasets, name)(tmp_path)


def test_flow_files(tmp_path: Path) -> None:
    flo(tmp_path / "a.flo", 1)
    assert (read_flo(f"{tmp_path}/a.flo") == noise(1, 6, 8, 2).transpose(2, 0, 1)).all()
    for order in "<>":
        pfm(tmp_path / "a.pfm", 2, 3, order)
        expected = noise(2, 6, 8, 3)[::-1].transpose(2, 0, 1)[:2].copy()
        expected[0, -1, 0] = np.inf
        assert (read_pfm(f"{tmp_path}/a.pfm", 2) == expected).all()


def test_png_of_48_bits(tmp_path: Path) -> None:
    values = np.random.default_rng(0).integers(0, 1 << 16, (11, 7, 3), dtype=np.uint16)
    rgb16(tmp_path / "a.png", values)
    assert (read_rgb16(f"{tmp_path}/a.png") == values).all()
    Image.new("RGB", (4, 4)).save(tmp_path / "b.png")
    (tmp_path / "c.png").write_bytes((tmp_path / "a.png").read_bytes()[:60])
    for name in ("b.png", "c.png"):
        with pytest.raises(UnidentifiedImageError, match=f"{name}: not a whole PNG"):
            read_rgb16(f"{tmp_path}/{name}")


@pytest.mark.parametrize("data", [b"", b"text and more text", b"PIEH" + bytes(8)])
def test_damaged_flow(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(ValueError, match=f"{tmp_path}/a: "):
        read_flo(f"{tmp_path}/a")
    with pytest.raises(ValueError, match=f"{tmp_path}/a: Invalid PFM"):
        read_pfm(f"{tmp_path}/a", 1)


def test_headers_that_say_too_much(tmp_path: Path) -> None:
    (tmp_path / "a.flo").write_bytes(b"PIEH" + b"\xff\xff\xff\x7f" * 2)
    with pytest.raises(ValueError, match=r"a\.flo: damaged, 12 bytes for 2147483647 × 2147483647"):
        read_flo(f"{tmp_path}/a.flo")
    (tmp_path / "a.pfm").write_bytes(b"PF\n1000000 1000000\n-1.0\n1234")
    with pytest.raises(ValueError, match=r"a\.pfm: damaged, .* 1000000 × 1000000"):
        read_pfm(f"{tmp_path}/a.pfm", 1)


def test_transforms(tmp_path: Path) -> None:
    LAYOUTS["sintel"](tmp_path)

    def valid_everywhere(first: Any, second: Any, flow: Any, valid: Any) -> Any:
        return second, first, flow, abs(flow[0]) < 1000

    turned = datasets.Sintel(tmp_path, transforms=valid_everywhere)
    plain = datasets.Sintel(tmp_path)
    assert turned[0][3].all()
    assert turned[0][0] == plain[0][1]
    assert len(3 * plain) == 6
    LAYOUTS["carla"](tmp_path)
    swapped = datasets.CarlaStereo(tmp_path, lambda *pairs: tuple(pair[::-1] for pair in pairs))
    assert swapped[0][0] == datasets.CarlaStereo(tmp_path)[0][1]


def test_middlebury(tmp_path: Path) -> None:
    LAYOUTS["middlebury"](tmp_path)
    _, _, disparity, valid = datasets.Middlebury2014Stereo(tmp_path)[0]
    assert disparity.min() == 0
    assert ((disparity[0] > 0) == valid).all()
    assert len(datasets.Middlebury2014Stereo(tmp_path, "test", None)[0]) == 4
    for split, calibration in (("train", None), ("test", "perfect")):
        with pytest.raises(ValueError, match="calibration"):
            datasets.Middlebury2014Stereo(tmp_path, split, calibration)
    folder = tmp_path / "Middlebury2014" / "train" / "Piano-perfect"
    for name, color in (("im1", "red"), ("im1E", "lime"), ("im1L", "blue")):
        Image.new("RGB", (8, 6), color).save(folder / f"{name}.png")
    data = datasets.Middlebury2014Stereo(tmp_path, use_ambient_views=True)
    fb.manual_seed(0)
    seen = {data[0][1].getpixel((0, 0)) for _ in range(30)}
    assert len(seen) == 3
