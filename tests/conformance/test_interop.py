"""Memory exchanged with PyTorch itself, and the errors of interop."""

from __future__ import annotations

import gc
import warnings

import numpy as np
import pytest
import torch

import flambeau as fb

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16"]
DTYPES += ["float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_both_ways(dtype):
    theirs = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype)).t()
    ours = fb.from_dlpack(theirs)
    assert str(ours.dtype) == str(theirs.dtype)
    assert ours.stride() == theirs.stride()
    assert ours.tolist() == theirs.tolist()
    assert ours.data_ptr() == theirs.data_ptr()
    back = torch.from_dlpack(ours)
    assert back.dtype == theirs.dtype
    assert back.data_ptr() == theirs.data_ptr()
    del theirs, ours
    gc.collect()
    assert back.sum().item() is not None


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
def test_dlpack_special_shapes(shape):
    assert fb.from_dlpack(torch.ones(shape)).shape == shape
    assert torch.from_dlpack(fb.ones(shape)).shape == shape


def test_capsules_of_either_form():
    for options in ({}, {"max_version": (1, 0)}):
        assert fb.from_dlpack(torch.arange(3).__dlpack__(**options)).tolist() == [0, 1, 2]
        assert torch.from_dlpack(fb.arange(3).__dlpack__(**options)).tolist() == [0, 1, 2]


# What both must refuse, with the same class of error.
REFUSED = [
    "t.from_numpy([1])",
    "t.from_numpy(np.arange(3)[::-1])",
    "t.from_numpy(np.array([1], '>i4'))",
    "t.from_numpy(np.array(['a']))",
    "t.from_numpy(np.float32(3))",
    "t.from_numpy(np.zeros(3, [('a', 'i1'), ('b', 'f4')])['b'])",
    "t.frombuffer(bytearray(8), dtype=t.float32, count=3)",
    "t.frombuffer(bytearray(8), dtype=t.float32, offset=3)",
    "t.frombuffer(bytearray(0), dtype=t.float32)",
    "t.frombuffer(3, dtype=t.float32)",
    "t.frombuffer(bytearray(8))",
    "t.ones(2, dtype=t.bfloat16).numpy()",
    "t.from_dlpack(3)",
    "t.ones(2).__dlpack__(stream=3)",
    "t.Tensor(2.5)",
    "t.Tensor('a')",
    "t.Tensor(-1)",
    "t.LongTensor(t.ones(2))",
    "t.ones(2).type('long')",
    "t.set_default_dtype(t.int32)",
    "t.finfo(t.int32)",
    "t.iinfo(t.float32)",
    "bool(t.ones(2))",
    "int(t.ones(2))",
    "float(t.ones(0))",
    "[1][t.tensor(1.5)]",
    "len(t.tensor(1))",
    "iter(t.tensor(1))",
    "t.ones(2).item()",
    "'a' in t.ones(2)",
    "t.ones(2) + 'a'",
    "t.ones(2).numpy(3)",
    "t.ones(2).tolist(3)",
    "t.ones(2).as_subclass(int)",
    "t.is_storage()",
]


@pytest.mark.parametrize("call", REFUSED)
def test_same_class_of_error(call):
    raised = []
    for module in (torch, fb):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(Exception) as caught:  # noqa: PT011
                eval(call, {"t": module, "np": np})
        raised.append(caught.type)
    assert raised[0] is raised[1]
