"""Old spellings that programs still use."""

from __future__ import annotations

import numpy as np
import pytest

import flambeau as fb

TYPES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "ByteTensor": "uint8",
    "CharTensor": "int8",
    "ShortTensor": "int16",
    "IntTensor": "int32",
    "LongTensor": "int64",
    "BoolTensor": "bool",
}


@pytest.mark.parametrize("name", TYPES)
def test_typed_constructors(name):
    kind, dtype = getattr(fb, name), getattr(fb, TYPES[name])
    assert kind(2, 3).shape == (2, 3)
    assert kind(2, 3).dtype == dtype
    assert kind([1, 0]).tolist() == [1, 0]
    assert kind().shape == (0,)
    assert kind.dtype == dtype
    assert isinstance(fb.zeros(1, dtype=dtype), kind)
    assert not isinstance(fb.zeros(1, dtype=fb.complex64), kind)
    assert repr(kind) == f"<class 'torch.{name}'>"
    assert fb.zeros(1, dtype=dtype).type() == f"torch.{name}"
    assert fb.zeros(1).type(kind).dtype == dtype
    assert fb.zeros(1).type(f"torch.{name}").dtype == dtype


def test_tensor_constructor():
    assert fb.Tensor(2, 3).shape == (2, 3)
    assert fb.Tensor([2, 3]).tolist() == [2, 3]
    assert fb.Tensor((2, 3)).dtype == fb.float32
    assert fb.Tensor(fb.Size([2, 0])).shape == (2, 0)
    assert fb.Tensor().shape == (0,)
    assert fb.Tensor(np.arange(3)).tolist() == [0, 1, 2]
    source = fb.zeros(2)
    fb.Tensor(source).fill_(1)
    assert source.tolist() == [1, 1]


def test_constructor_of_a_subclass():
    class Named(fb.Tensor):
        pass

    assert type(Named(2, 3)) is Named
    assert type(Named([1.0])) is Named
    assert repr(Named([1.0])) == "Named([1.])"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((2.5,), TypeError, "data must be a sequence"),
        ((None,), TypeError, "data must be a sequence"),
        (("a",), TypeError, "invalid data type"),
        ((-1,), RuntimeError, "negative"),
    ],
)
def test_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        fb.Tensor(*arguments)


def test_other_types_are_refused():
    with pytest.raises(TypeError, match="expected a tensor of"):
        fb.LongTensor(fb.ones(2))
    with pytest.raises(RuntimeError, match="legacy constructor expects device type: cpu"):
        fb.FloatTensor(2, device="cuda")
    with pytest.raises(ValueError, match="invalid type: 'long'"):
        fb.ones(1).type("long")


def test_new():
    tensor = fb.ones(2, dtype=fb.int64)
    assert tensor.new(2, 3).shape == (2, 3)
    assert tensor.new([1.5, 2]).tolist() == [1, 2]
    assert tensor.new().dtype == fb.int64


def test_set_default_tensor_type():
    try:
        fb.set_default_tensor_type(fb.DoubleTensor)
        assert fb.ones(1).dtype == fb.float64
        fb.set_default_tensor_type("torch.HalfTensor")
        assert fb.ones(1).dtype == fb.float16
    finally:
        fb.set_default_tensor_type("torch.FloatTensor")
    with pytest.raises(TypeError, match="only floating-point types"):
        fb.set_default_tensor_type(fb.LongTensor)
    with pytest.raises(TypeError, match="only floating-point types"):
        fb.set_default_tensor_type(fb.float32)


def test_typename():
    assert fb.typename(fb.ones(1)) == "torch.FloatTensor"
    assert fb.typename(3) == "int"
    assert fb.typename(np.zeros(1)) == "numpy.ndarray"


def test_range_holds_its_end():
    with pytest.warns(UserWarning, match="torch.range is deprecated"):
        assert fb.range(0, 1, 0.25).tolist() == [0, 0.25, 0.5, 0.75, 1]
    with pytest.warns(UserWarning, match="deprecated"):
        values = fb.range(4, 1, -1, dtype=fb.int64)
    assert (values.tolist(), values.dtype) == ([4, 3, 2, 1], fb.int64)
    out = fb.empty(0)
    with pytest.warns(UserWarning, match="deprecated"):
        assert fb.range(1, 3, out=out) is out
    assert out.tolist() == [1, 2, 3]
    with (
        pytest.warns(UserWarning, match="deprecated"),
        pytest.raises(RuntimeError, match="inconsistent with step"),
    ):
        fb.range(1, 0)
    with (
        pytest.warns(UserWarning, match="deprecated"),
        pytest.raises(RuntimeError, match="step must be nonzero"),
    ):
        fb.range(0, 1, 0)
