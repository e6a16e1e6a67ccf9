"""Images of bytes in other sizes: the same bytes as torch and torchvision, in every order."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn.functional import interpolate as their_interpolate

import flambeau
from flambeau.nn.functional import interpolate as our_interpolate
from flambeau.vision.transforms import v2 as our_v2
from tests.conformance import vision_oracle

their_v2 = vision_oracle.load("transforms.v2")

MODES = (
    ("bilinear", True),
    ("bilinear", False),
    ("bicubic", True),
    ("bicubic", False),
    ("nearest", False),
    ("nearest-exact", False),
)
SIDES = ((37, 53), (5, 7), (64, 33), (9, 2), (130, 300))
TARGETS = ((16, 20), (37, 30), (80, 90), (3, 2), (1, 1), (64, 53))
# torch fails on it, if it has three planes: INTERNAL ASSERT in UpSampleKernelAVXAntialias.h.
REFUSED_BY_TORCH = (1, 1)


def _pixels(*shape: int) -> Any:
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


def _compare(mine: Any, theirs: Any, size: tuple[int, int], mode: str, smooth: bool) -> None:
    corners = None if mode.startswith("nearest") else False
    options = {"size": size, "mode": mode, "align_corners": corners, "antialias": smooth}
    expected = their_interpolate(theirs, **options)
    result = our_interpolate(mine, **options)
    assert result.stride() == expected.stride()
    assert np.array_equal(result.numpy(), expected.numpy())


@pytest.mark.parametrize(("mode", "smooth"), MODES)
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("channels_last", [False, True])
def test_sizes_and_channels(mode: str, smooth: bool, channels: int, channels_last: bool) -> None:
    for sides, size in itertools.product(SIDES, TARGETS):
        if channels == 3 and not channels_last and size == REFUSED_BY_TORCH:
            continue
        pixels = _pixels(2, channels, *sides)
        mine, theirs = flambeau.from_numpy(pixels), torch.from_numpy(pixels)
        if channels_last:
            mine = mine.contiguous(memory_format=flambeau.channels_last)
            theirs = theirs.contiguous(memory_format=torch.channels_last)
        _compare(mine, theirs, size, mode, smooth)


@pytest.mark.parametrize(("mode", "smooth"), MODES)
def test_windows_on_larger_images(mode: str, smooth: bool) -> None:
    pixels = _pixels(1, 3, 60, 70)
    for window in (np.s_[:, :, 5:50, 7:60], np.s_[:, :, ::2, ::3], np.s_[:, 1:, 20:, 3:]):
        mine = flambeau.from_numpy(pixels)[window]
        theirs = torch.from_numpy(pixels)[window]
        for size in ((20, 24), (70, 80)):
            corners = None if mode.startswith("nearest") else False
            options = {"size": size, "mode": mode, "align_corners": corners, "antialias": smooth}
            expected = their_interpolate(theirs, **options)
            assert np.array_equal(our_interpolate(mine, **options).numpy(), expected.numpy())


@pytest.mark.parametrize(("mode", "smooth"), [m for m in MODES if not m[0].startswith("nearest")])
@pytest.mark.parametrize("factor", [0.37, 1.0, 2.5])
def test_factors(mode: str, smooth: bool, factor: float) -> None:
    pixels = _pixels(1, 4, 41, 52)
    options = {"scale_factor": factor, "mode": mode, "antialias": smooth}
    expected = their_interpolate(torch.from_numpy(pixels), **options)
    result = our_interpolate(flambeau.from_numpy(pixels), **options)
    assert np.array_equal(result.numpy(), expected.numpy())


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_large_factors(mode: str) -> None:
    pixels = _pixels(1, 3, 900, 1100)
    mine, theirs = flambeau.from_numpy(pixels), torch.from_numpy(pixels)
    _compare(mine, theirs, (3, 2), mode, True)
    small = _pixels(1, 3, 9, 11)
    mine, theirs = flambeau.from_numpy(small), torch.from_numpy(small)
    _compare(mine, theirs, (300, 500), mode, True)


# --- crops in another size, of PIL images and of tensors

BOXES = {
    "inside": (5, 7, 20, 30),
    "all": (0, 0, 37, 51),
    "across the edges": (-3, -4, 60, 62),
    "beyond a corner": (30, 40, 30, 30),
    "outside": (100, 100, 5, 5),
    "one pixel": (3, 4, 1, 1),
    "empty": (0, 0, 0, 5),
    "less than empty": (3, 3, -1, 4),
}
FILTERS = ("NEAREST", "NEAREST_EXACT", "BILINEAR", "BICUBIC", "LANCZOS", "BOX", "HAMMING")


def _image(kind: str, torch_: Any) -> Any:
    pixels = _pixels(37, 51, 3)
    if "PIL" in kind:
        return Image.fromarray(pixels).convert(kind.split()[1])
    tensor = torch_.from_numpy(pixels).permute(2, 0, 1)
    if kind == "planes":
        return tensor.contiguous()
    return tensor.expand(2, 2, 3, 37, 51) if kind == "batch" else tensor


def _result(functional: Any, image: Any, box: Any, size: Any, mode: Any) -> Any:
    try:
        return np.asarray(functional.resized_crop(image, *box, size, mode))
    except (ValueError, RuntimeError, NotImplementedError) as error:
        return error


@pytest.mark.parametrize("kind", ["PIL RGB", "PIL L", "PIL RGBA", "planes", "pixels", "batch"])
@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("mode", FILTERS)
def test_crops_in_another_size(kind: str, box: str, mode: str) -> None:
    for size in ([16, 16], [50, 60], [3, 40]):
        expected, mine = (
            _result(package.functional, _image(kind, t), BOXES[box], size, modes[mode])
            for package, t, modes in (
                (their_v2, torch, their_v2.InterpolationMode),
                (our_v2, flambeau, our_v2.InterpolationMode),
            )
        )
        if isinstance(expected, Exception):
            # Of two mistakes at once either may be named, both of which are RuntimeErrors.
            either = box.endswith("empty") and isinstance(expected, RuntimeError)
            assert isinstance(mine, RuntimeError if either else type(expected))
        else:
            assert mine.dtype == expected.dtype
            assert np.array_equal(mine, expected)
