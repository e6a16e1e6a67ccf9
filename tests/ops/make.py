"""Sample inputs: seeded, aware of their dtype, and independent of the framework under test."""

import dataclasses
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.ops import dtypes


class DType(str):
    """The name of an element type; becomes the module's own dtype object in a call."""

    __slots__ = ()


class Attr(str):
    """The name of an attribute of the module under test, such as `channels_last`."""

    __slots__ = ()


attr = Attr


@dataclasses.dataclass(frozen=True, eq=False)
class Input:
    """A tensor argument: exact values, an element type, and how it lies in memory."""

    values: np.ndarray
    dtype: str
    layout: str = "contiguous"

    def strided(self) -> "Input":
        """The same values as every second element of a larger buffer, from an offset."""
        return dataclasses.replace(self, layout="strided")

    def transposed(self) -> "Input":
        """The same values stored with the dimensions in reverse order."""
        return dataclasses.replace(self, layout="transposed")

    def channels_last(self) -> "Input":
        """The same values of a 4-d input stored as NHWC."""
        return dataclasses.replace(self, layout="channels_last")

    def expanded(self, *shape: int) -> "Input":
        """The values broadcast to `shape` with zero strides."""
        values = np.broadcast_to(self.values, shape)
        return dataclasses.replace(self, values=values, layout="expanded")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def to_module(self, t: Any) -> Any:
        """A new tensor of module `t` with these values, in this layout."""
        if self.layout == "expanded":
            kept = tuple(slice(0, 1) if s == 0 else slice(None) for s in self.values.strides)
            return self._tensor(t, self.values[kept]).expand(self.shape)
        if self.layout == "transposed" and self.values.ndim > 1:
            reverse = tuple(reversed(range(self.values.ndim)))
            return self._tensor(t, self.values.transpose(reverse)).permute(reverse)
        if self.layout == "channels_last" and self.values.ndim == 4:
            return self._tensor(t, self.values.transpose(0, 2, 3, 1)).permute(0, 3, 1, 2)
        if self.layout == "strided":
            return self._strided(t)
        return self._tensor(t, self.values)

    def to_reference(self) -> np.ndarray:
        """The values in the type in which a reference computes."""
        return self.values.astype(dtypes.widened(self.dtype))

    def _tensor(self, t: Any, values: np.ndarray) -> Any:
        tensor = t.from_numpy(np.array(values, order="C"))
        return tensor.to(t.bfloat16) if self.dtype == "bfloat16" else tensor

    def _strided(self, t: Any) -> Any:
        shape = self.shape or (1,)
        # What lies between the elements must not matter: fill it with another value.
        buffer = np.ones((*shape[:-1], 2 * shape[-1] + 1), self.values.dtype)
        buffer[..., 1::2] = self.values.reshape(shape)
        view = self._tensor(t, buffer)[..., 1::2]
        return view if self.shape else view[0]

    def __repr__(self) -> str:
        layout = "" if self.layout == "contiguous" else f", {self.layout}"
        return f"{self.dtype}{list(self.shape)}{layout}"


class Make:
    """Makes the inputs of one operator in one dtype. `make(3, 4)` is a tensor of random values.

    The values depend on the operator's name and the dtype alone, so a failure can be repeated.
    """

    def __init__(self, operator: str, dtype: str) -> None:
        self.dtype = DType(dtype)
        self.is_bool = dtype in dtypes.BOOL
        self.is_integral = dtype in dtypes.INTEGRAL
        self.is_floating = dtype in dtypes.FLOATING
        self.is_half = dtype in dtypes.HALF
        self.is_complex = dtype in dtypes.COMPLEX
        self._random = np.random.default_rng(zlib.crc32(f"{operator}/{dtype}".encode()))

    def __call__(
        self,
        *shape: int,
        low: float | None = None,
        high: float | None = None,
        dtype: str | None = None,
    ) -> Input:
        """Uniform values in [low, high); for integers both ends count.

        Without a range: -3 to 3 for floating and complex parts, -9 to 9 for integers (0 to 9 for
        uint8), and both truth values for bool.
        """
        dtype = dtype or self.dtype
        kind = dtypes.category(dtype)
        if kind == "bool":
            values = self._random.random(shape) < 0.5
        elif kind == "integral":
            least = 0 if dtype == "uint8" else -9
            low = least if low is None else max(int(np.ceil(low)), least if low < 0 else 0)
            high = max(low, 9 if high is None else int(high))
            values = self._random.integers(low, high, shape, int, True)
        else:
            low = -3.0 if low is None else low
            high = 3.0 if high is None else high
            values = self._random.uniform(low, high, shape)
            if kind == "complex":
                values = values + 1j * self._random.uniform(low, high, shape)
        return Input(dtypes.rounded(values, dtype), dtype)

    def positive(self, *shape: int, dtype: str | None = None) -> Input:
        """Values between 0.1 and 5 (1 to 9 for integers, True for bool)."""
        dtype = dtype or self.dtype
        if dtype in dtypes.BOOL:
            return Input(np.ones(shape, bool), dtype)
        return self(*shape, low=0.1, high=9 if dtype in dtypes.INTEGRAL else 5, dtype=dtype)

    def nonzero(self, *shape: int, dtype: str | None = None) -> Input:
        """Values of either sign whose magnitude is at least 0.1 (1 for integers)."""
        made = self.positive(*shape, dtype=dtype)
        if made.dtype == "uint8" or made.dtype in dtypes.BOOL:
            return made
        sign = np.where(self._random.random(shape) < 0.5, -1, 1).astype(made.values.dtype)
        return dataclasses.replace(made, values=made.values * sign)

    def unit(self, *shape: int, dtype: str | None = None) -> Input:
        """Values strictly inside (-1, 1)."""
        return self(*shape, low=-0.98, high=0.98, dtype=dtype)

    def distinct(self, *shape: int, dtype: str | None = None) -> Input:
        """Values without ties as far as the dtype has room, in random order."""
        dtype = dtype or self.dtype
        count = int(np.prod(shape, dtype=int))
        order = self._random.permutation(count).reshape(shape)
        if dtype in dtypes.BOOL:
            return Input(order % 2 == 0, dtype)
        if dtype in dtypes.INTEGRAL:
            centre = 0 if dtype == "uint8" else count // 2
            return Input((order - centre).astype(dtypes.carrier(dtype)), dtype)
        # Steps of 1/4 stay exact in bfloat16 up to 64 elements' worth of range.
        values = (order - count // 2) / 4
        return Input(dtypes.rounded(values, dtype), dtype)

    def of(self, *values: Any, dtype: str | None = None) -> Input:
        """Exactly these values: `make.of(1, 2, 3)`, or nested lists as one argument."""
        dtype = dtype or self.dtype
        nested: Any = values[0] if len(values) == 1 and isinstance(values[0], list) else values
        return Input(dtypes.rounded(np.array(nested), dtype), dtype)

    def zero_dim(self, value: Any, dtype: str | None = None) -> Input:
        """A 0-dimensional tensor."""
        dtype = dtype or self.dtype
        return Input(dtypes.rounded(np.array(value), dtype), dtype)

    def index(self, *shape: int, high: int, low: int = 0) -> Input:
        """int64 positions in [low, high)."""
        return Input(self._random.integers(low, high, shape), "int64")

    def permutation(self, n: int) -> Input:
        """int64 positions 0 to n-1, each once."""
        return Input(self._random.permutation(n), "int64")

    def mask(self, *shape: int) -> Input:
        """Truth values."""
        return self(*shape, dtype="bool")

    def well_conditioned(self, *shape: int) -> Input:
        """Matrices that can be inverted without loss: random plus a heavy diagonal."""
        made = self.unit(*shape)
        rows, columns = shape[-2:]
        values = made.values + 3 * np.eye(rows, columns, dtype=made.values.dtype)
        return dataclasses.replace(made, values=dtypes.rounded(values, made.dtype))

    def positive_definite(self, *shape: int) -> Input:
        """Symmetric (Hermitian) positive definite matrices."""
        made = self.unit(*shape)
        n = shape[-1]
        values = made.values @ np.conj(np.swapaxes(made.values, -1, -2))
        values = values + n * np.eye(n, dtype=made.values.dtype)
        return dataclasses.replace(made, values=dtypes.rounded(values, made.dtype))


Nested = Input | DType | Attr | Sequence[Any] | dict[str, Any] | Any


def map_inputs(function: Any, value: Nested) -> Nested:
    """`value` with `function` applied to every Input, also inside lists, tuples and dicts."""
    if isinstance(value, Input):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map_inputs(function, item) for item in value)
    if isinstance(value, dict):
        return {key: map_inputs(function, item) for key, item in value.items()}
    return value


def to_module(t: Any, value: Nested) -> Any:
    """`value` with every Input, DType and Attr turned into the object of module `t`."""
    if isinstance(value, Input):
        return value.to_module(t)
    if isinstance(value, (DType, Attr)):
        return getattr(t, value)
    if isinstance(value, slice):
        return slice(*(to_module(t, part) for part in (value.start, value.stop, value.step)))
    if isinstance(value, (list, tuple)):
        return type(value)(to_module(t, item) for item in value)
    if isinstance(value, dict):
        return {key: to_module(t, item) for key, item in value.items()}
    return value


def to_reference(value: Nested) -> Any:
    """`value` with every Input turned into a wide NumPy array and every DType into a wide dtype."""
    if isinstance(value, Input):
        return value.to_reference()
    if isinstance(value, DType):
        return dtypes.widened(value)
    if isinstance(value, (list, tuple)):
        return type(value)(to_reference(item) for item in value)
    if isinstance(value, dict):
        return {key: to_reference(item) for key, item in value.items()}
    return value
