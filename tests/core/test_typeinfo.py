"""``finfo`` and ``iinfo``."""

from __future__ import annotations

import pickle

import pytest

import flambeau as fb


@pytest.mark.parametrize(
    ("name", "bits", "eps", "largest", "tiny", "resolution"),
    [
        ("float16", 16, 2**-10, 65504.0, 2**-14, 1e-3),
        ("bfloat16", 16, 2**-7, 3.3895313892515355e38, 2**-126, 1e-2),
        ("float32", 32, 2**-23, 3.4028234663852886e38, 2**-126, 1e-6),
        ("float64", 64, 2**-52, 1.7976931348623157e308, 2**-1022, 1e-15),
    ],
)
def test_finfo(name, bits, eps, largest, tiny, resolution):
    info = fb.finfo(getattr(fb, name))
    assert (info.bits, info.eps, info.max, info.min) == (bits, eps, largest, -largest)
    assert info.tiny == info.smallest_normal == tiny
    assert (info.resolution, info.dtype) == (resolution, name)


def test_finfo_of_complex_default_and_repr():
    assert fb.finfo(fb.complex64) == fb.finfo(fb.float32) == fb.finfo()
    assert repr(fb.finfo(fb.float16)) == (
        "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, "
        "smallest_normal=6.10352e-05, tiny=6.10352e-05, dtype=float16)"
    )


def test_iinfo():
    info = fb.iinfo(fb.int16)
    assert (info.bits, info.min, info.max, info.dtype) == (16, -(2**15), 2**15 - 1, "int16")
    assert (fb.iinfo(fb.uint8).min, fb.iinfo(fb.uint8).max) == (0, 255)
    assert repr(fb.iinfo(fb.int64)) == "iinfo(min=-9.22337e+18, max=9.22337e+18, dtype=int64)"


def test_typeinfo_errors():
    with pytest.raises(TypeError, match="requires a floating point input type"):
        fb.finfo(fb.int32)
    with pytest.raises(TypeError, match="requires an integer input type"):
        fb.iinfo(fb.float32)
    with pytest.raises(TypeError, match=r"torch.bool is not supported by torch.iinfo"):
        fb.iinfo(fb.bool)
    with pytest.raises(TypeError, match=r"must be torch.dtype, not str"):
        fb.finfo("float32")
    with pytest.raises(TypeError, match="missing 1 required"):
        fb.iinfo()
    with pytest.raises(AttributeError, match="not writable"):
        fb.finfo().eps = 1.0
    assert fb.finfo(float) == fb.finfo(fb.float64)


def test_a_device_is_not_none():
    assert fb.device("cpu") != None  # noqa: E711
    assert fb.device("cpu") != "cpu"


@pytest.mark.parametrize("name", ["mps", "xpu", "xla", "mtia", "hpu", "privateuseone"])
def test_devices_known_by_name(name):
    device = fb.device(name, 1)
    assert (device.type, device.index, str(device)) == (name, 1, f"{name}:1")
    assert repr(fb.device(name)) == f"device(type='{name}')"
    assert fb.device(name) not in (fb.device("cpu"), fb.device("meta"), device)
    assert pickle.loads(pickle.dumps(device)) == device
    with pytest.raises(RuntimeError, match=f"no device {name} here"):
        fb.ones(2, device=name)
    with pytest.raises(RuntimeError, match=f"no generator for device {name}"):
        fb.Generator(device=name)


def test_devices_unknown():
    with pytest.raises(RuntimeError, match=r"Expected one of cpu, cuda, .* device string: abacus"):
        fb.device("abacus:1")
