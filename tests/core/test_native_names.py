"""Names that packages expect in PyTorch's native module."""

import pytest

import flambeau as fb
from flambeau import _C


def test_names():
    assert isinstance(fb.Tensor, _C._TensorMeta)
    device, dtype, non_blocking, memory_format = _C._nn._parse_to("cpu", fb.float64)
    assert (device, dtype, non_blocking, memory_format) == (
        fb.device("cpu"),
        fb.float64,
        False,
        None,
    )


def test_others_are_missing():
    with pytest.raises(AttributeError, match="_no_such_name"):
        _ = _C._no_such_name
    assert not hasattr(_C, "__wrapped__")
