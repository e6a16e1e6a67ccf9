"""Pointwise operators on operands of any shapes and layouts against NumPy."""

import operator
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flambeau
from tests.fuzz.strategies import Pair, assert_same, pairs, shapes

numeric = st.sampled_from(["int64", "float64"])
small = shapes(max_dims=3, max_side=3)
BINARY = [operator.add, operator.sub, operator.mul, operator.lt, operator.eq, operator.ge]
IN_PLACE = [operator.iadd, operator.isub, operator.imul]


@given(pairs(small, numeric), pairs(small, numeric), st.sampled_from(BINARY))
def test_binary(left: Pair, right: Pair, function: Callable) -> None:
    try:
        expected = function(left.array, right.array)
    except ValueError:
        with pytest.raises(RuntimeError):
            function(left.tensor, right.tensor)
        return
    result = function(left.tensor, right.tensor)
    # A zero-dimensional tensor does not raise another one's dtype within a category; the drawn
    # types are of different categories, where both libraries promote alike.
    assert_same(result, expected)
    left.check()
    right.check()


@given(pairs(small, numeric), pairs(small, numeric), st.sampled_from(IN_PLACE))
def test_in_place(left: Pair, right: Pair, function: Callable) -> None:
    try:
        function(left.array, right.array)
    except (ValueError, TypeError):
        # NumPy's casting error and its broadcasting error are RuntimeErrors here
        with pytest.raises(RuntimeError):
            function(left.tensor, right.tensor)
    else:
        function(left.tensor, right.tensor)
    left.check()
    right.check()


@given(pairs(small, numeric), pairs(small, numeric))
def test_copying(target: Pair, source: Pair) -> None:
    try:
        target.array[...] = np.broadcast_to(source.array, target.array.shape)
    except ValueError:
        with pytest.raises(RuntimeError):
            target.tensor.copy_(source.tensor)
    else:
        target.tensor.copy_(source.tensor)
    target.check()


@given(pairs(small, st.just("bool")), pairs(small, numeric), pairs(small, numeric))
def test_where(condition: Pair, yes: Pair, no: Pair) -> None:
    try:
        expected = np.where(condition.array, yes.array, no.array)
    except ValueError:
        with pytest.raises(RuntimeError):
            flambeau.where(condition.tensor, yes.tensor, no.tensor)
        return
    assert_same(flambeau.where(condition.tensor, yes.tensor, no.tensor), expected)


@given(pairs(small, st.just("float64")), pairs(small, st.just("float64")), pairs(small))
def test_out_receives_the_result(left: Pair, right: Pair, out: Pair) -> None:
    """`out=` of the right shape is written where it lies; another shape must not corrupt."""
    try:
        expected = left.array * right.array
    except ValueError:
        return
    fits = out.array.shape == expected.shape
    if not fits or out.array.dtype != np.float64:
        return
    out.array[...] = expected
    returned = flambeau.mul(left.tensor, right.tensor, out=out.tensor)
    assert returned is out.tensor
    out.check()


@given(pairs(small, st.just("float64")), pairs(small, st.just("float64")))
def test_matmul(left: Pair, right: Pair) -> None:
    try:
        expected = np.matmul(left.array, right.array)
    except ValueError:
        with pytest.raises(RuntimeError):
            flambeau.matmul(left.tensor, right.tensor)
        return
    assert_same(flambeau.matmul(left.tensor, right.tensor), expected)
