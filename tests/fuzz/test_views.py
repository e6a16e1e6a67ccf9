"""Chains of views against NumPy: shape, values, shared memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flambeau
from tests.fuzz.strategies import Pair, assert_same, pairs, shapes


@given(pairs(max_steps=6))
def test_chain_of_views(pair: Pair) -> None:
    pair.check()
    strides = tuple(each // pair.array.itemsize for each in pair.array.strides)
    if pair.array.size > 1:
        long = [i for i, size in enumerate(pair.array.shape) if size > 1]
        assert [pair.tensor.stride(i) for i in long] == [strides[i] for i in long]
    assert pair.tensor.is_contiguous() == (pair.array.size == 0 or pair.array.flags.c_contiguous)


@given(pairs(max_steps=4), st.integers(0, 3))
def test_writing_through_a_view(pair: Pair, value: int) -> None:
    pair.array[...] = value
    pair.tensor.fill_(value)
    pair.check()


@given(pairs(), st.data())
def test_reshape(pair: Pair, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(_factorisations(pair.array.size)))
    assert_same(pair.tensor.reshape(shape), pair.array.reshape(shape))
    assert_same(pair.tensor.flatten(), pair.array.reshape(-1))
    assert_same(pair.tensor.contiguous(), pair.array)
    assert_same(pair.tensor.clone(), pair.array)
    try:
        viewed = pair.tensor.view(shape)
    except RuntimeError:
        assert not pair.tensor.is_contiguous()  # any shape can view contiguous memory
    else:
        assert_same(viewed, pair.array.reshape(shape))
        assert viewed.data_ptr() == pair.tensor.data_ptr()


def _factorisations(count: int) -> list[tuple[int, ...]]:
    if count == 0:
        return [(0,), (0, 3), (2, 0), (4, 0, 1)]
    pairs = [(a, count // a) for a in range(1, count + 1) if count % a == 0]
    return [(count,), (-1,), *pairs, *((a, -1) for a, _ in pairs), *((a, 1, b) for a, b in pairs)]


@given(pairs(), st.lists(st.integers(-1, 4), max_size=5))
def test_any_target_shape_is_taken_or_refused(pair: Pair, shape: list[int]) -> None:
    try:
        expected = pair.array.reshape(shape)
    except ValueError:
        with pytest.raises(RuntimeError):
            pair.tensor.reshape(shape)
        with pytest.raises(RuntimeError):
            pair.tensor.view(shape)
    else:
        assert_same(pair.tensor.reshape(shape), expected)


@given(pairs(shapes(max_dims=3, max_side=3)), shapes())
def test_expand(pair: Pair, shape: tuple[int, ...]) -> None:
    try:
        expected = np.broadcast_to(pair.array, shape)
    except ValueError:
        with pytest.raises(RuntimeError):
            pair.tensor.expand(shape)
    else:
        expanded = pair.tensor.expand(shape)
        assert_same(expanded, expected)
        assert_same(expanded.contiguous(), expected)


@given(
    pairs(shapes(max_dims=2), max_steps=1),
    st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 5)), max_size=3),
    st.integers(-1, 20),
)
def test_as_strided_stays_inside(pair: Pair, layout: list[tuple[int, int]], offset: int) -> None:
    """A layout that would reach outside the memory is refused, others read what lies there."""
    sizes, strides = [each[0] for each in layout], [each[1] for each in layout]
    count = pair.tensor_base.numel()
    legal = min([*sizes, *strides, offset, 0]) >= 0
    empty = 0 in sizes
    reach = offset + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    if empty and not legal:
        return  # refused or not, there is nothing to read
    if not legal or (not empty and reach >= count):
        with pytest.raises(RuntimeError):
            pair.tensor.as_strided(sizes, strides, offset)
        return
    result = pair.tensor.as_strided(sizes, strides, offset)
    flat = pair.array_base.reshape(-1)
    steps = [s * flat.itemsize for s in strides]
    start = flat[offset:] if offset < count else flat[:0]
    expected = np.lib.stride_tricks.as_strided(start, sizes, steps)
    assert_same(result, expected)


@given(pairs(shapes(max_dims=3)), st.data())
def test_unfold(pair: Pair, data: st.DataObject) -> None:
    if pair.tensor.dim() == 0:
        return
    axis = data.draw(st.integers(0, pair.tensor.dim() - 1))
    size, step = data.draw(st.integers(-1, 5)), data.draw(st.integers(-1, 3))
    length = pair.array.shape[axis]
    if size < 0 or step <= 0 or size > length:
        with pytest.raises(RuntimeError):
            pair.tensor.unfold(axis, size, step)
        return
    if size == 0:
        return
    windows = np.lib.stride_tricks.sliding_window_view(pair.array, size, axis)
    expected = windows[(slice(None),) * axis + (slice(None, None, step),)]
    assert_same(pair.tensor.unfold(axis, size, step), expected)


@given(pairs(), st.data())
def test_rearranging(pair: Pair, data: st.DataObject) -> None:
    dims = data.draw(st.lists(st.integers(0, max(pair.tensor.dim() - 1, 0)), unique=True))
    if pair.tensor.dim() == 0:
        return
    shifts = [data.draw(st.integers(-5, 5)) for _ in dims]
    assert_same(pair.tensor.flip(dims), np.flip(pair.array, dims))
    if dims:
        assert_same(pair.tensor.roll(shifts, dims), np.roll(pair.array, shifts, dims))
    joined = flambeau.cat([pair.tensor, pair.tensor], 0)
    assert_same(joined, np.concatenate([pair.array, pair.array], 0))
    repeats = [data.draw(st.integers(0, 2)) for _ in range(pair.tensor.dim())]
    assert_same(pair.tensor.repeat(repeats), np.tile(pair.array, repeats))
