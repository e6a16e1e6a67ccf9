"""Floats into integers that have no room for them, as PyTorch and x86 have it."""

import math

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
