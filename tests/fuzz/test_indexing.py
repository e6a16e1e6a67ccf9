"""Reading and writing by index against NumPy."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flambeau
from tests.fuzz.strategies import Pair, assert_same, numbers, pairs, shapes


@st.composite
def basic_indices(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Integers, slices with positive steps, None and an ellipsis, within the bounds."""
    index: list[Any] = []
    covered = draw(st.integers(0, len(shape)))
    for size in shape[:covered]:
        kinds = ["slice", "int"] if size else ["slice"]
        if draw(st.sampled_from(kinds)) == "int":
            index.append(draw(st.integers(-size, size - 1)))
        else:
            bound = st.none() | st.integers(-size - 2, size + 2)
            index.append(slice(draw(bound), draw(bound), draw(st.none() | st.integers(1, 3))))
    if draw(st.booleans()):
        index.insert(draw(st.integers(0, len(index))), None)
    if covered == len(shape) and draw(st.booleans()):
        index.append(Ellipsis)
    return tuple(index)


@st.composite
def advanced_indices(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Integer arrays that broadcast together and at most one mask, among basic indices."""
    common = draw(shapes(max_dims=2, min_side=1, max_side=3))
    index: list[Any] = []
    axis = 0
    masked = False
    covered = draw(st.integers(0, len(shape)))
    while axis < covered:
        size = shape[axis]
        kind = draw(st.sampled_from(["slice", "array", "array", "int", "mask"]))
        if kind == "mask" and not masked:
            # The number of True must agree with the other arrays, so that it stands alone.
            masked = True
            rank = draw(st.integers(1, covered - axis))
            index.append(_mask(shape[axis : axis + rank], draw(st.integers(0, 99))))
            axis += rank
            continue
        if kind == "array" and size and not masked:
            sides = [draw(st.sampled_from([1, side])) for side in common]
            values = np.random.default_rng(draw(st.integers(0, 99))).integers(-size, size, sides)
            index.append(values)
        elif kind == "int" and size and not masked:
            index.append(draw(st.integers(-size, size - 1)))
        else:
            index.append(slice(draw(st.integers(0, size)), None, draw(st.integers(1, 2))))
        axis += 1
    if masked:
        index = [each if isinstance(each, (slice, np.ndarray)) else slice(None) for each in index]
        arrays = [i for i, each in enumerate(index) if isinstance(each, np.ndarray)]
        for place in arrays[:-1]:
            index[place] = slice(None)
    return tuple(index)


def _mask(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.asarray(np.random.default_rng(seed).random(shape) < 0.5)


def in_two_stages(array: np.ndarray, index: tuple[Any, ...]) -> tuple[np.ndarray, tuple[Any, ...]]:
    """A view of `array` and the rest of `index`, to apply to it.

    PyTorch takes numbers and slices first; to NumPy a number is one more advanced index, which
    can move the dims of the others to the front.
    """
    basic: list[Any] = []
    rest: list[Any] = []
    for each in index:
        if isinstance(each, np.ndarray):
            basic += [slice(None)] * (each.ndim if each.dtype == np.bool_ else 1)
            rest.append(each)
        else:
            basic.append(each)
            if isinstance(each, slice):
                rest.append(slice(None))
    return array[(*basic, ...)], tuple(rest)


def to_tensors(index: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        flambeau.tensor(each.tolist(), dtype=_dtype_of(each)).reshape(each.shape)
        if isinstance(each, np.ndarray)
        else each
        for each in index
    )


def _dtype_of(array: np.ndarray) -> Any:
    return flambeau.bool if array.dtype == np.bool_ else flambeau.int64


@given(pairs(), st.data())
def test_basic(pair: Pair, data: st.DataObject) -> None:
    index = data.draw(basic_indices(pair.array.shape))
    result = pair.tensor[index]
    assert_same(result, pair.array[index])
    if result.numel():
        start = pair.tensor_base.data_ptr()
        end = start + pair.tensor_base.numel() * pair.tensor_base.element_size()
        assert start <= result.data_ptr() < end, "a basic index must give a view"


@given(pairs(shapes(min_side=1)), st.data())
def test_advanced(pair: Pair, data: st.DataObject) -> None:
    index = data.draw(advanced_indices(pair.array.shape))
    view, rest = in_two_stages(pair.array, index)
    assert_same(pair.tensor[to_tensors(index)], view[rest])


@given(pairs(), st.data())
def test_assignment_by_basic_index(pair: Pair, data: st.DataObject) -> None:
    index = data.draw(basic_indices(pair.array.shape))
    _assign(pair, pair.array, index, index, data)


@given(pairs(shapes(min_side=1)), st.data())
def test_assignment_by_advanced_index(pair: Pair, data: st.DataObject) -> None:
    index = data.draw(advanced_indices(pair.array.shape))
    view, rest = in_two_stages(pair.array, index)
    places = np.arange(view.size).reshape(view.shape)[rest]
    if np.unique(places).size != places.size:
        view[rest] = 3  # which of several values lands on one place is not defined
        pair.tensor[to_tensors(index)] = 3
        pair.check()
    else:
        _assign(pair, view, rest, index, data)


def _assign(
    pair: Pair,
    view: np.ndarray,
    rest: tuple[Any, ...],
    index: tuple[Any, ...],
    data: st.DataObject,
) -> None:
    """`view[rest]` in NumPy and `index` in Flambeau are the same elements: write to both."""
    target = view[rest].shape
    kept = data.draw(st.integers(0, len(target)))  # the rest is broadcast
    shape = tuple(data.draw(st.sampled_from([1, side])) for side in target[kept:])
    name = str(pair.tensor.dtype).rpartition(".")[2]
    values = numbers(shape, name, data.draw(st.integers(0, 99)))
    view[rest] = values
    source = flambeau.tensor(values.tolist(), dtype=pair.tensor.dtype).reshape(shape)
    pair.tensor[to_tensors(index)] = source
    pair.check()


@given(pairs(), st.data())
def test_out_of_bounds_is_an_index_error(pair: Pair, data: st.DataObject) -> None:
    if pair.tensor.dim() == 0:
        with pytest.raises(IndexError):
            pair.tensor[0]
        return
    axis = data.draw(st.integers(0, pair.tensor.dim() - 1))
    size = pair.array.shape[axis]
    far = data.draw(st.integers(size, size + 3) | st.integers(-size - 4, -size - 1))
    before = (slice(None),) * axis
    with pytest.raises(IndexError):
        pair.tensor[(*before, far)]
    with pytest.raises(IndexError):
        pair.tensor[(*before, far)] = 1
    if pair.tensor.numel():
        with pytest.raises(IndexError):
            pair.tensor[(*before, flambeau.tensor([0, far]))]
        with pytest.raises(IndexError):
            pair.tensor[(*before, flambeau.tensor([far]))] = 1
    with pytest.raises(IndexError):
        pair.tensor[(0,) * (pair.tensor.dim() + 1)]
    pair.check()


@given(pairs(shapes(max_dims=3, min_side=1)), st.data())
def test_gather_and_scatter(pair: Pair, data: st.DataObject) -> None:
    if pair.array.size == 0 or pair.array.ndim == 0:
        return
    axis = data.draw(st.integers(0, pair.array.ndim - 1))
    size = pair.array.shape[axis]
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    taken = [
        data.draw(st.integers(0, 5)) if i == axis else side
        for i, side in enumerate(pair.array.shape)
    ]
    places = rng.integers(0, size, taken)
    index = flambeau.tensor(places.tolist(), dtype=flambeau.int64).reshape(taken)
    expected = np.take_along_axis(pair.array, places, axis)
    assert_same(pair.tensor.gather(axis, index), expected)
    flat = places.reshape(-1)
    picked = pair.tensor.index_select(axis, index.reshape(-1))
    assert_same(picked, np.take(pair.array, flat, axis))
    if pair.array.dtype != np.bool_:
        np.put_along_axis(pair.array, places, 5, axis)
        pair.tensor.scatter_(axis, index, 5)
        pair.check()
    if places.size:
        with pytest.raises((RuntimeError, IndexError)):
            pair.tensor.gather(axis, index + size)
        with pytest.raises((RuntimeError, IndexError)):
            pair.tensor.scatter_(axis, index - size - 1, 1)
        with pytest.raises((RuntimeError, IndexError)):
            pair.tensor.index_select(axis, index.reshape(-1) + size)


@given(pairs(), st.data())
def test_masks(pair: Pair, data: st.DataObject) -> None:
    mask = _mask(pair.array.shape, data.draw(st.integers(0, 99)))
    (selector,) = to_tensors((mask,))
    assert_same(pair.tensor.masked_select(selector), pair.array[mask])
    assert_same(pair.tensor.nonzero(), np.argwhere(pair.array).astype(np.int64))
    pair.array[mask] = 1
    pair.tensor.masked_fill_(selector, 1)
    pair.check()


GARBAGE = st.one_of(
    st.floats(),
    st.text(max_size=3),
    st.just(b""),
    st.just(object()),
    st.dictionaries(st.integers(), st.integers(), max_size=1),
    st.integers(2**63, 2**70),
    st.builds(slice, st.text(max_size=1), st.none(), st.integers(-2, 0)),
    st.builds(slice, st.none(), st.none(), st.integers(-3, 0)),
)


@given(pairs(shapes(max_dims=2)), st.lists(GARBAGE, min_size=1, max_size=2).map(tuple))
def test_garbage_is_refused(pair: Pair, index: tuple[Any, ...]) -> None:
    with pytest.raises((IndexError, TypeError, ValueError, RuntimeError, OverflowError)):
        pair.tensor[index]
    with pytest.raises((IndexError, TypeError, ValueError, RuntimeError, OverflowError)):
        pair.tensor[index] = 0
    pair.check()
