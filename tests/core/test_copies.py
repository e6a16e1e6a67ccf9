"""Views in memory of their own, and methods in place as functions."""

from __future__ import annotations

import pytest

import flambeau as fb
from flambeau._operators.copies import COPIES

ARGUMENTS = {
    "as_strided_copy": ((2, 2), (1, 2)),
    "expand_copy": ((2, 3, 4),),
    "narrow_copy": (1, 1, 2),
    "permute_copy": ((1, 0),),
    "select_copy": (0, 1),
    "slice_copy": (1, 0, 4, 2),
    "split_copy": (2,),
    "split_with_sizes_copy": ([1, 2],),
    "transpose_copy": (0, 1),
    "unfold_copy": (1, 2, 1),
    "unsqueeze_copy": (0,),
    "view_copy": ((4, 3),),
}


@pytest.mark.parametrize("name", COPIES)
def test_shares_no_memory(name):
    x = fb.arange(12.0).reshape(3, 4)
    if name == "view_as_complex_copy":
        x = x.reshape(6, 2)
    if name == "view_as_real_copy":
        x = fb.complex(x, x)
    copies = getattr(fb, name)(x, *ARGUMENTS.get(name, ()))
    views = COPIES[name](x, *ARGUMENTS.get(name, ()))
    if isinstance(copies, fb.Tensor):
        copies, views = (copies,), (views,)
    for copied, view in zip(copies, views, strict=True):
        assert copied.is_contiguous()
        assert fb.equal(copied, view)
        assert copied.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()


def test_gradients_flow():
    x = fb.ones(4, requires_grad=True)
    fb.slice_copy(x, 0, 1, 3).sum().backward()
    assert x.grad.tolist() == [0, 1, 1, 0]


def test_methods_in_place_as_functions():
    x = fb.tensor([1.0, 2.0, 3.0])
    assert fb.clamp_(x, min=2) is x
    assert fb.square_(x).tolist() == [4, 4, 9]
    assert fb.index_put_(x, (fb.tensor([0]),), fb.tensor(7.0)).tolist() == [7, 4, 9]
    assert fb.nan_to_num_(fb.tensor([float("nan")]), nan=3.0).tolist() == [3]


@pytest.mark.parametrize("function", [fb.slice_copy, fb.ops.aten.slice])
def test_slices_along_dimensions_that_are_not_there(function):
    with pytest.raises(IndexError, match="0-dim tensor"):
        function(fb.tensor(1.0), 0)
    for dim in (2, -3, 2**62):
        with pytest.raises(IndexError, match="out of range"):
            function(fb.ones(2, 3), dim)
