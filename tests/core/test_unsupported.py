"""Unsupported kinds of tensors: their names exist, and the errors say what to use."""

from __future__ import annotations

import pytest

import flambeau as fb
from flambeau._limits.refusing import refused_in


@pytest.mark.parametrize("name", refused_in("Tensor"))
def test_methods_refuse(name):
    with pytest.raises((NotImplementedError, AssertionError, RuntimeError), match=f"^{name}: "):
        getattr(fb.ones(2, 2), name)()


@pytest.mark.parametrize("name", refused_in(""))
def test_functions_refuse(name):
    error = (NotImplementedError, RuntimeError)
    with pytest.raises(error, match=rf"^{name}: .*(; (use|keep) |\. Use )"):
        getattr(fb, name)(fb.ones(2))


def test_questions_are_answered():
    x = fb.ones(2, dtype=fb.int64)
    for name in ("is_ipu", "is_maia", "is_mkldnn", "is_mtia", "is_vulkan", "is_xla", "volatile"):
        assert getattr(x, name) is False
    assert not x.is_distributed()
    assert x.dequantize().dtype is fb.float32
    assert x.storage_type() is fb.LongStorage
    assert x.const_data_ptr() == x.data_ptr()


def test_layouts_that_are_names():
    assert isinstance(fb.jagged, fb.layout)
    assert repr(fb.jagged) == "torch.jagged"
    assert fb.ones(2).layout != fb.jagged
    with pytest.raises(NotImplementedError, match=r"torch.jagged: tensors of this layout"):
        fb.zeros(2, layout=fb.jagged)


def test_order_of_dimensions():
    x = fb.zeros(2, 3, 4, 5)
    assert x.dim_order() == (0, 1, 2, 3)
    assert x.to(memory_format=fb.channels_last).dim_order() == (0, 2, 3, 1)
    with pytest.raises(RuntimeError, match="does not have a unique order"):
        fb.zeros(2, 1, 1).dim_order(ambiguity_check=True)
