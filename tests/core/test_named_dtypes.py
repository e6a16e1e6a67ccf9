"""The element types that exist as names only: asked about, compared and pickled, never held."""

from __future__ import annotations

import copy
import pickle

import pytest

import flambeau as fb

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in range(1, 8)]
FLOATS = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]
FLOATS += ["float8_e8m0fnu", "float4_e2m1fn_x2"]
OPAQUE = ["qint8", "quint8", "qint32", "quint4x2", "quint2x4"]
OPAQUE += ["bits1x8", "bits2x4", "bits4x2", "bits8", "bits16"]
NAMES = ["uint16", "uint32", "uint64", "complex32", *INTEGERS, *FLOATS, *OPAQUE]


@pytest.mark.parametrize("name", NAMES)
def test_is_a_dtype(name):
    dtype = getattr(fb, name)
    assert isinstance(dtype, fb.dtype)
    assert repr(dtype) == str(dtype) == f"torch.{name}"
    assert dtype.is_floating_point == (name in FLOATS)
    assert dtype.is_complex == (name == "complex32")
    assert {dtype: 1}[dtype] == 1
    assert dtype == getattr(fb, name)
    assert dtype not in (fb.uint8, fb.float32)


@pytest.mark.parametrize("name", NAMES)
def test_copies_are_the_same_object(name):
    dtype = getattr(fb, name)
    assert copy.copy(dtype) is copy.deepcopy(dtype) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype


def test_sizes():
    sizes = {"uint16": 2, "uint32": 4, "uint64": 8, "complex32": 4, "qint32": 4, "bits16": 2}
    assert {n: getattr(fb, n).itemsize for n in NAMES} == {n: sizes.get(n, 1) for n in NAMES}


def test_sign():
    assert fb.int4.is_signed
    assert fb.float8_e5m2.is_signed
    assert fb.complex32.is_signed
    assert not fb.uint16.is_signed
    assert not fb.float8_e8m0fnu.is_signed
    with pytest.raises(RuntimeError, match=r"is_signed: torch.qint8 is neither signed"):
        _ = fb.qint8.is_signed


def test_parts():
    assert fb.complex32.to_real() is fb.float16
    assert fb.float16.to_complex() is fb.chalf is fb.complex32
    assert fb.bfloat16.to_complex() is fb.complex64
    assert fb.uint16.to_real() is fb.uint16
    for dtype in (fb.int64, fb.uint16, fb.float8_e5m2):
        with pytest.raises(RuntimeError, match="has no complex type"):
            dtype.to_complex()


def test_abbreviations():
    assert [d.abbr for d in (fb.bool, fb.uint8, fb.bfloat16, fb.complex128)] == [
        "b8",
        "u8",
        "bf16",
        "c128",
    ]
    assert (fb.uint16.abbr, fb.bits8.abbr, fb.float8_e4m3fn.abbr) == ("u16", "b8x1", "f8e4m3fn")


@pytest.mark.parametrize(
    ("name", "least", "largest", "eps", "tiny"),
    [
        ("float8_e4m3fn", -448.0, 448.0, 2**-3, 2**-6),
        ("float8_e4m3fnuz", -240.0, 240.0, 2**-3, 2**-7),
        ("float8_e5m2", -57344.0, 57344.0, 2**-2, 2**-14),
        ("float8_e5m2fnuz", -57344.0, 57344.0, 2**-3, 2**-15),
        ("float8_e8m0fnu", 2.0**-127, 2.0**127, 1.0, 2.0**-127),
    ],
)
def test_finfo(name, least, largest, eps, tiny):
    info = fb.finfo(getattr(fb, name))
    assert (info.bits, info.dtype, info.resolution) == (8, name, 1.0)
    assert (info.min, info.max, info.eps, info.tiny) == (least, largest, eps, tiny)


def test_limits_of_the_others():
    assert fb.finfo(fb.complex32) == fb.finfo(fb.float16)
    assert (fb.iinfo(fb.uint16).min, fb.iinfo(fb.uint16).max) == (0, 2**16 - 1)
    assert fb.iinfo(fb.uint64).max == 2**64 - 1
    with pytest.raises(TypeError, match="requires an integer input type"):
        fb.iinfo(fb.uint4)
    with pytest.raises(TypeError, match="requires a floating point input type"):
        fb.finfo(fb.uint16)


@pytest.mark.parametrize("name", NAMES)
def test_no_tensor_holds_one(name):
    dtype = getattr(fb, name)
    message = rf"torch\.{name}: tensors of this type are not supported yet; use torch\.\w+ instead"
    makers = (
        lambda: fb.zeros(2, dtype=dtype),
        lambda: fb.tensor([1], dtype=dtype),
        lambda: fb.ones(2).to(dtype),
        lambda: fb.ones(2).sum(dtype=dtype),
        lambda: fb.ones(2).view(dtype),
    )
    for make in makers:
        with pytest.raises(NotImplementedError, match=message):
            make()
