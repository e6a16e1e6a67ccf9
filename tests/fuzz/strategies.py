"""What the fuzz tests draw: arrays with the tensors that mirror them, in every memory layout."""

import dataclasses
from typing import Any

import numpy as np
from hypothesis import strategies as st

import flambeau

# Small whole numbers, so that sums and products are exact in whatever order they are taken.
DTYPES = {
    "bool": np.bool_,
    "uint8": np.uint8,
    "int32": np.int32,
    "int64": np.int64,
    "float32": np.float32,
    "float64": np.float64,
}
dtype_names = st.sampled_from(sorted(DTYPES))
dims = st.integers(0, 4)


def shapes(max_dims: int = 4, min_side: int = 0, max_side: int = 4) -> st.SearchStrategy:
    return st.lists(st.integers(min_side, max_side), max_size=max_dims).map(tuple)


def numbers(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    """Values from `seed`, so that an example is small to print and to shrink."""
    low, high = (0, 2) if dtype == "bool" else (0, 7) if dtype == "uint8" else (-6, 7)
    return np.random.default_rng(seed).integers(low, high, shape).astype(DTYPES[dtype])


@dataclasses.dataclass(frozen=True)
class Pair:
    """An array, a tensor that holds the same values, and the memory that each of them views."""

    array: np.ndarray
    tensor: Any
    array_base: np.ndarray
    tensor_base: Any

    def check(self) -> None:
        """Both views and both whole memories still agree: nothing else was written to."""
        assert_same(self.tensor, self.array)
        assert_same(self.tensor_base, self.array_base)

    def __repr__(self) -> str:
        strides = tuple(each // self.array.itemsize for each in self.array.strides)
        return f"<{self.array.dtype} {self.array.shape} strides {strides}>"


def assert_same(tensor: Any, array: Any) -> None:
    """Equal shapes, values and dtype."""
    array = np.asarray(array)
    assert tuple(tensor.shape) == array.shape, f"shape {tensor.shape}, expected {array.shape}"
    assert str(tensor.dtype).rpartition(".")[2] == array.dtype.name
    values = np.array(tensor.tolist(), dtype=array.dtype).reshape(array.shape)
    np.testing.assert_array_equal(values, array)


@st.composite
def pairs(
    draw: st.DrawFn,
    shape: st.SearchStrategy | None = None,
    dtype: st.SearchStrategy = dtype_names,
    max_steps: int = 3,
) -> Pair:
    """A base of the drawn shape, seen through up to `max_steps` views of it."""
    name = draw(dtype)
    base = numbers(draw(shapes() if shape is None else shape), name, draw(st.integers(0, 999)))
    array, tensor_base = base, flambeau.tensor(base.tolist(), dtype=getattr(flambeau, name))
    tensor_base = tensor = tensor_base.reshape(base.shape)
    for _ in range(draw(st.integers(0, max_steps))):
        array, tensor = draw(view_steps(array, tensor))
    return Pair(array, tensor, base, tensor_base)


@st.composite
def view_steps(draw: st.DrawFn, array: np.ndarray, tensor: Any) -> tuple[np.ndarray, Any]:
    """One view operation applied to both."""
    if array.ndim == 0:
        return array[None], tensor.unsqueeze(0)
    axis = draw(st.integers(0, array.ndim - 1))
    size = array.shape[axis]
    before = (slice(None),) * axis
    kind = draw(st.sampled_from(["permute", "narrow", "step", "select", "unsqueeze", "diagonal"]))
    if kind == "permute":
        order = draw(st.permutations(range(array.ndim)))
        return array.transpose(order), tensor.permute(*order)
    if kind == "narrow":
        start = draw(st.integers(0, size))
        length = draw(st.integers(0, size - start))
        return array[(*before, slice(start, start + length))], tensor.narrow(axis, start, length)
    if kind == "step":
        index = (*before, slice(draw(st.integers(0, size)), None, draw(st.integers(1, 3))))
        return array[index], tensor[index]
    if kind == "select" and size:
        place = draw(st.integers(-size, size - 1))
        return array[(*before, place, ...)], tensor.select(axis, place)
    if kind == "diagonal" and array.ndim >= 2:
        other = draw(st.integers(0, array.ndim - 1).filter(lambda each: each != axis))
        offset = draw(st.integers(-2, 2))
        diagonal = array.diagonal(offset, axis, other)
        diagonal.flags.writeable = True
        return diagonal, tensor.diagonal(offset, axis, other)
    return np.expand_dims(array, axis), tensor.unsqueeze(axis)
