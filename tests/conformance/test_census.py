"""The examples of the counted names give what PyTorch gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import flambeau as fb
from tests import census
from tests.conformance.differences import OWN_STRIDES

# Operators of torchvision's own, which its wheel for CUDA does not bring beside a torch for the
# CPU; tests/vision compares them with their definition.
WITHOUT_ORACLE = {"torchvision.ops.nms"}
CALLS = [
    (name, call)
    for name, calls in census.EXAMPLES.items()
    for call in calls
    if name not in WITHOUT_ORACLE
]
PLAIN_TYPES = (bool, int, float, complex, str, type(None))


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[call for _, call in CALLS])
def test_same_result(name, call):
    # Where the pixels of an image lie in memory is the affair of each package.
    strides = name not in OWN_STRIDES and not name.startswith("torchvision.")
    assert_same(census.run(fb, call), census.run(torch, call), fb, strides)


def assert_same(actual: Any, expected: Any, fb: Any, strides: bool = True) -> None:
    if isinstance(expected, torch.Tensor):
        assert isinstance(actual, fb.Tensor)
        assert str(actual.dtype) == str(expected.dtype)
        assert tuple(actual.shape) == tuple(expected.shape)
        assert not strides or actual.stride() == expected.stride()
        wide = "float32" if expected.dtype in (torch.bfloat16, torch.float16) else None
        values = [_to_numpy(tensor, wide) for tensor in (actual, expected)]
        np.testing.assert_allclose(*values, rtol=1e-5, atol=1e-6)
    elif isinstance(expected, (torch.dtype, torch.device, torch.layout, torch.memory_format)):
        assert str(actual) == str(expected)
    elif isinstance(expected, (tuple, list)):
        assert isinstance(actual, tuple if isinstance(expected, tuple) else list)
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_same(one, other, fb, strides)
    elif isinstance(expected, float):
        assert type(actual) is float
        assert actual == pytest.approx(expected, rel=1e-6, nan_ok=True)
    elif isinstance(expected, PLAIN_TYPES):
        assert type(actual) is type(expected)
        assert actual == expected
    else:
        assert np.array_equal(actual, expected)  # NumPy's own values


def _to_numpy(tensor: Any, dtype: str | None) -> np.ndarray:
    return (tensor.float() if dtype else tensor).detach().numpy()
