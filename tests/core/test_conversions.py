"""Conversions that lose something: what has no room in an integer, and what a float rounds."""

import math

import numpy as np
import pytest

import flambeau as fb

SMALLEST = -(2**31)
FAR = [math.nan, math.inf, -math.inf, 3e9, -3e9, 1e20]
FLOATS = [fb.float32, fb.float64, fb.bfloat16]


@pytest.mark.parametrize("repeats", [1, 11])  # in vectors, and what is left over
@pytest.mark.parametrize("source", FLOATS)
def test_signed_integers_become_the_smallest(source: fb.dtype, repeats: int) -> None:
    x = fb.tensor(FAR * repeats, dtype=source)
    assert x.to(fb.int32).tolist() == [SMALLEST] * len(x)
    assert x.to(fb.int16).tolist() == [0] * len(x)  # the lower half of it
    assert x.to(fb.int8).tolist() == [0] * len(x)
    assert x[::2].to(fb.int32).tolist() == [SMALLEST] * len(x[::2])


@pytest.mark.parametrize("source", FLOATS)
def test_int64_becomes_the_smallest(source: fb.dtype) -> None:
    x = fb.tensor([math.nan, math.inf, -math.inf, 1e20], dtype=source)
    assert x.to(fb.int64).tolist() == [-(2**63)] * 4


@pytest.mark.parametrize("source", [*FLOATS, fb.float16])
def test_what_fits_is_truncated(source: fb.dtype) -> None:
    x = fb.tensor([0.0, -0.0, 1.5, -1.5, 100.0, -100.0], dtype=source)
    for target in (fb.int8, fb.int16, fb.int32, fb.int64):
        assert x.to(target).tolist() == [0, 0, 1, -1, 100, -100]


def test_narrow_integers_keep_the_low_bits() -> None:
    x = fb.tensor([300.0, -300.0, 70000.0, -129.0])
    assert x.to(fb.int8).tolist() == [44, -44, 112, 127]
    assert x.to(fb.uint8).tolist() == [44, 212, 112, 127]
    assert x.to(fb.int16).tolist() == [300, -300, 4464, -129]
    assert fb.tensor([2.0**31, 2.0**31 - 128]).to(fb.int32).tolist() == [SMALLEST, 2**31 - 128]


def test_real_part_of_a_complex_number() -> None:
    assert fb.tensor([complex(math.nan, 1), 3.5 + 2j]).to(fb.int32).tolist() == [SMALLEST, 3]


def test_long_integers_are_rounded_once() -> None:
    small = [0, 1, -1, 2**24 + 1, 2**24 + 3, -(2**31) - 129, 2**51 - 1, -(2**51)]
    # Of the last ones a double has no room for what decides how to round.
    large = [2**51, -(2**51) - 1, 2**63 - 1, -(2**63), 2**54 + 2**30 + 1, 2**62 + 2**38 + 1]
    for values in (small, small * 3 + small[:3], large, small[:5] + large + small):
        x = np.array(values)
        assert fb.tensor(x).to(fb.float32).tolist() == x.astype(np.float32).tolist()
        assert fb.tensor(x)[::2].to(fb.float32).tolist() == x[::2].astype(np.float32).tolist()
