"""Reductions and scans over any dims of any layout against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flambeau
from tests.fuzz.strategies import Pair, assert_same, pairs, shapes

numeric = st.sampled_from(["int64", "float64"])
filled = shapes(min_side=1)


@st.composite
def dims_of(draw: st.DrawFn, pair: Pair) -> tuple[int, ...]:
    """At least one dim, some of them counted from the end."""
    count = pair.array.ndim
    chosen = draw(st.lists(st.integers(0, count - 1), unique=True, min_size=1))
    return tuple(each - count if draw(st.booleans()) else each for each in chosen)


@given(pairs(dtype=numeric), st.data())
def test_sum(pair: Pair, data: st.DataObject) -> None:
    assert_same(pair.tensor.sum(), pair.array.sum())
    if pair.array.ndim == 0:
        return
    dims, keep = data.draw(dims_of(pair)), data.draw(st.booleans())
    assert_same(pair.tensor.sum(dims, keep), pair.array.sum(dims, keepdims=keep))
    assert_same((pair.tensor != 0).sum(dims), (pair.array != 0).sum(dims))


@given(pairs(filled, st.just("float64")), st.data())
def test_mean_and_norm(pair: Pair, data: st.DataObject) -> None:
    if pair.array.ndim == 0 or pair.array.size == 0:
        return
    dims = data.draw(dims_of(pair))
    _assert_close(pair.tensor.mean(dims), pair.array.mean(dims))
    _assert_close(pair.tensor.var(dims, correction=0), pair.array.var(dims))
    norm = np.sqrt((pair.array**2).sum(dims))
    _assert_close(pair.tensor.norm(2, dims), norm)


def _assert_close(tensor: object, array: np.ndarray) -> None:
    values = np.array(tensor.tolist()).reshape(array.shape)  # type: ignore[attr-defined]
    np.testing.assert_allclose(values, array, 1e-12, 1e-12)


@given(pairs(filled, numeric), st.data())
def test_extremes(pair: Pair, data: st.DataObject) -> None:
    if pair.array.size == 0 or pair.array.ndim == 0:
        return
    dims, keep = data.draw(dims_of(pair)), data.draw(st.booleans())
    assert_same(pair.tensor.amax(dims, keep), pair.array.max(dims, keepdims=keep))
    assert_same(pair.tensor.amin(dims, keep), pair.array.min(dims, keepdims=keep))
    axis = dims[0]
    values, places = pair.tensor.max(axis)
    assert_same(values, pair.array.max(axis))
    picked = pair.tensor.gather(axis, places.unsqueeze(axis)).squeeze(axis)
    assert_same(picked, pair.array.max(axis))
    assert_same(pair.tensor.argmin(axis), pair.array.argmin(axis))
    assert_same(pair.tensor.prod(axis), pair.array.prod(axis))


@given(pairs(), st.data())
def test_any_and_all(pair: Pair, data: st.DataObject) -> None:
    if str(pair.tensor.dtype).endswith("uint8") or pair.array.ndim == 0:
        return  # PyTorch answers in uint8 there
    axis = data.draw(st.integers(-pair.array.ndim, pair.array.ndim - 1))
    assert_same(pair.tensor.any(axis), pair.array.any(axis))
    assert_same(pair.tensor.all(axis), pair.array.all(axis))


@given(pairs(dtype=numeric), st.data())
def test_scans_and_sorting(pair: Pair, data: st.DataObject) -> None:
    if pair.array.ndim == 0:
        return
    axis = data.draw(st.integers(-pair.array.ndim, pair.array.ndim - 1))
    assert_same(pair.tensor.cumsum(axis), pair.array.cumsum(axis))
    assert_same(pair.tensor.cumprod(axis), pair.array.cumprod(axis))
    values, places = pair.tensor.sort(dim=axis, stable=True)
    assert_same(values, np.sort(pair.array, axis))
    assert_same(places, np.argsort(pair.array, axis, kind="stable"))


@given(pairs(dtype=numeric), st.integers(-6, 6))
def test_a_dim_that_does_not_exist(pair: Pair, dim: int) -> None:
    limit = max(pair.array.ndim, 1)
    if -limit <= dim < limit:
        return
    for reduce in (pair.tensor.sum, pair.tensor.amax, pair.tensor.cumsum, pair.tensor.argmax):
        with pytest.raises(IndexError):
            reduce(dim)


def test_integers_wrap() -> None:
    """Sums and products beyond 64 bits are defined, for single rows and for columns."""
    rng = np.random.default_rng(0)
    for shape in ((1,), (3,), (70,), (37, 53)):
        values = rng.integers(-(2**63), 2**63 - 1, shape)
        tensor = flambeau.from_numpy(values)
        with np.errstate(over="ignore"):
            for dim in range(values.ndim):
                assert tensor.sum(dim).tolist() == values.sum(dim).tolist()
                assert tensor.prod(dim).tolist() == values.prod(dim).tolist()
                assert tensor.cumsum(dim).tolist() == values.cumsum(dim).tolist()
                assert tensor.cumprod(dim).tolist() == values.cumprod(dim).tolist()
