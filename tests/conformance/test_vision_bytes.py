"""Images of bytes at other resolutions: the same bytes as torch, in every shape and order."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import interpolate as their_interpolate

import flambeau
from flambeau.nn.functional import interpolate as our_interpolate

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
