"""Mutated calls of operators: what a mistaken or hostile program may pass."""

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ops import dtypes
from tests.ops.make import Attr, DType, Input
from tests.ops.registry import Sample

# At, below and beyond what sizes, places and counters can hold.
INTEGERS = (0, 1, -1, 2, 3, 7, -2, 100, 2**31 - 1, 2**31, -(2**31), 2**32, 2**40, 2**62, 2**63 - 1)
INTEGERS += (-(2**62), -(2**63), 2**63)
FLOATS = (0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, -1e300, 1e10, np.inf, -np.inf, np.nan)
STRINGS = ("", "none", "mean", "sum", "max", "bilinear", "nearest", "reflect", "valid", "same", "x")
LAYOUTS = ("contiguous", "strided", "transposed", "channels_last")
# Values within a tensor: indices of nothing, coordinates of nowhere.
PLACES = (-1, -100, 1, 5, 1000, 2**31 - 1, 2**31, -(2**31), 2**62, -(2**63), 2**63 - 1)
POINTS = (0.0, -1.0, 1e30, -1e30, 3e9, np.inf, -np.inf, np.nan)
# Of a tensor; more would only be slow.
LARGEST = 4096


class Mutator:
    """Mutates the arguments of calls, the same way for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def sample(self, sample: Sample, signatures: list[list[dict[str, Any]]]) -> Sample:
        """`sample` with one to three of its arguments changed, added or left out."""
        args, kwargs = list(sample.args), dict(sample.kwargs)
        for _ in range(self._random.choice((1, 1, 2, 3))):
            places: list[Any] = [*range(len(args)), *kwargs]
            if not places or self._random.random() < 0.2:
                self._add(args, kwargs, self._random.choice(signatures))
                continue
            place = self._random.choice(places)
            holder: Any = args if isinstance(place, int) else kwargs
            holder[place] = self.value(holder[place])
        return dataclasses.replace(sample, args=tuple(args), kwargs=kwargs)

    def value(self, value: Any) -> Any:
        """Something else in place of `value`, mostly of its kind."""
        if self._random.random() < 0.06:
            return self._random.choice((None, 2, -1, 0.5, "x", (), [1, 2], True, self._tensor()))
        if isinstance(value, Input):
            return self._bent(value)
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return self._random.choice((value + 1, value - 1, *INTEGERS))
        if isinstance(value, float):
            return self._random.choice(FLOATS)
        if isinstance(value, (DType, Attr)):
            return DType(self._random.choice(dtypes.ALL))
        if isinstance(value, str):
            return self._random.choice(STRINGS)
        if isinstance(value, (list, tuple)):
            return type(value)(self._items(list(value)))
        return self._random.choice((None, 3, self._tensor()))

    def _items(self, items: list[Any]) -> list[Any]:
        action = self._random.randrange(5)
        if action == 0 or not items:
            return [*items, self._random.choice(items or INTEGERS)]
        if action == 1:
            return items[1:]
        place = self._random.randrange(len(items))
        items[place] = self.value(items[place])
        return items

    def _add(
        self, args: list[Any], kwargs: dict[str, Any], signature: list[dict[str, Any]]
    ) -> None:
        """Gives a value to an argument that the call left out."""
        unused = [each for each in signature[len(args) :] if each["name"] not in kwargs]
        if unused:
            chosen = self._random.choice(unused)
            kwargs[chosen["name"]] = self._of_type(chosen["type"])

    def _of_type(self, kind: str) -> Any:
        one = self._random.choice
        makers: dict[str, Callable[[], Any]] = {
            "list[Tensor]": lambda: [self._tensor() for _ in range(one((0, 1, 2, 4)))],
            "list[Tensor | None]": lambda: [
                one((self._tensor(), None)) for _ in range(one((0, 1, 2, 4)))
            ],
            "Tensor": self._tensor,
            "bool": lambda: one((True, False)),
            "int": lambda: one(INTEGERS),
            "float": lambda: one(FLOATS),
            "Factors": lambda: one((one(FLOATS), [one(FLOATS) for _ in range(one((1, 2, 3)))])),
            "str": lambda: one(STRINGS),
            "DType": lambda: DType(one(dtypes.ALL)),
            "Dims": lambda: one((one(INTEGERS), [one(INTEGERS) for _ in range(one((0, 1, 2, 3)))])),
            "Ints": lambda: [one(INTEGERS) for _ in range(one((0, 1, 2, 4)))],
        }
        for name, make in makers.items():
            if kind.startswith(name):
                return make()
        return None

    def _tensor(self) -> Input:
        shape = [self._random.choice((0, 1, 2, 3, 4)) for _ in range(self._random.randrange(6))]
        dtype = self._random.choice((*dtypes.ALL, "float32", "int64"))
        values = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        return self._bent(Input(dtypes.rounded(values, dtype), dtype))

    def _bent(self, value: Input) -> Input:
        bend = self._random.choice(
            (self._rank, self._side, self._side, self._type, self._layout, self._values)
        )
        return bend(value)

    def _rank(self, value: Input) -> Input:
        values = value.values
        action = self._random.randrange(4)
        if action == 0 or not values.ndim:
            values = np.expand_dims(values, self._random.randint(0, values.ndim))
        elif action == 1 and values.shape[0]:
            values = values[0]
        elif action == 2:
            values = values.reshape(-1)
        elif values.size:
            values = values.reshape(-1)[0]
        return dataclasses.replace(value, values=np.asarray(values), layout="contiguous")

    def _side(self, value: Input) -> Input:
        if not value.values.ndim:
            return value
        shape = list(value.shape)
        place = self._random.randrange(len(shape))
        shape[place] = self._random.choice((0, 0, 1, 2, 5, shape[place] + 1, shape[place] - 1))
        shape[place] = max(shape[place], 0)
        count = int(np.prod(shape, dtype=int))
        if count > LARGEST:
            return value
        filled = value.values if value.values.size else np.ones(1, value.values.dtype)
        return dataclasses.replace(
            value, values=np.resize(filled, shape).astype(filled.dtype), layout="contiguous"
        )

    def _type(self, value: Input) -> Input:
        dtype = self._random.choice(dtypes.ALL)
        with np.errstate(all="ignore"):
            values = np.real(value.values) if dtype not in dtypes.COMPLEX else value.values
            return Input(dtypes.rounded(values, dtype), dtype)

    def _layout(self, value: Input) -> Input:
        if value.values.ndim and value.values.size and self._random.random() < 0.3:
            place = self._random.randrange(value.values.ndim)
            one = np.take(value.values, [0], axis=place)
            return dataclasses.replace(value, values=one).expanded(*value.shape)
        return dataclasses.replace(value, layout=self._random.choice(LAYOUTS))

    def _values(self, value: Input) -> Input:
        """Some elements, or all of them, out of every range."""
        choices = PLACES if value.dtype in dtypes.INTEGRAL else POINTS
        if value.dtype in dtypes.BOOL or not value.values.size:
            return value
        values = np.array(value.values)
        drawn = self._random.choice(choices)
        if value.dtype in dtypes.INTEGRAL:
            limits = np.iinfo(values.dtype)
            drawn = min(max(drawn, limits.min), limits.max)
        with np.errstate(all="ignore"):
            values.flat[self._random.randrange(values.size)] = drawn
            if self._random.random() < 0.3:
                values[...] = drawn
        return dataclasses.replace(value, values=values, layout="contiguous")
