"""Samples put together into batches."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import Any, NamedTuple

import numpy as np
import pytest

import flambeau as torch
from flambeau.utils.data import default_collate, default_convert
from flambeau.utils.data._utils.collate import collate, default_collate_fn_map


class Point(NamedTuple):
    x: Any
    y: Any


def test_numbers() -> None:
    assert default_collate([1, 2]).dtype is torch.int64
    assert default_collate([0.5, 1]).dtype is torch.float64
    assert default_collate([True, False]).dtype is torch.bool
    assert default_collate([np.float32(1), np.float32(2)]).dtype is torch.float32
    assert default_collate([np.float64(1)]).dtype is torch.float64


def test_tensors_and_arrays() -> None:
    assert default_collate([torch.ones(2), torch.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    batch = default_collate([np.ones(2, np.int16), np.zeros(2, np.int16)])
    assert batch.dtype is torch.int16
    assert batch.tolist() == [[1, 1], [0, 0]]


def test_containers() -> None:
    assert default_collate(["a", "b"]) == ["a", "b"]
    batch = default_collate([(1, "a"), (2, "b")])
    assert batch[0].tolist() == [1, 2]
    assert batch[1] == ("a", "b")
    assert isinstance(batch, list)
    point = default_collate([Point(1, {"z": 2}), Point(3, {"z": 4})])
    assert isinstance(point, Point)
    assert point.y["z"].tolist() == [2, 4]
    ordered = default_collate([OrderedDict(b=1, a=2)])
    assert isinstance(ordered, OrderedDict)
    assert list(ordered) == ["b", "a"]
    assert default_collate([defaultdict(list, a=1)]).default_factory is list
    assert [part.tolist() for part in default_collate([range(2), range(1, 3)])] == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("samples", "error", "message"),
    [
        ([None], TypeError, "found <class 'NoneType'>"),
        ([{1}, {2}], TypeError, "found <class 'set'>"),
        ([np.array(["a"])], TypeError, "found <U1"),
        ([[1], [1, 2]], RuntimeError, r"lengths are \[1, 2\]; pad"),
        ([torch.zeros(2), torch.zeros(3)], RuntimeError, "stack"),
    ],
)
def test_refused(samples: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        default_collate(samples)


def test_own_functions() -> None:
    def longest(batch: Any, *, collate_fn_map: Any = None) -> Any:
        return max(batch, key=len)

    functions = {str: longest, **{k: v for k, v in default_collate_fn_map.items() if k is not str}}
    batch = collate([{"a": "x", "b": 1}, {"a": "xyz", "b": 2}], collate_fn_map=functions)
    assert batch["a"] == "xyz"
    assert batch["b"].tolist() == [1, 2]


def test_convert() -> None:
    converted = default_convert({"a": np.ones(2), "b": (1, "c"), "d": np.array(["s"])})
    assert isinstance(converted["a"], torch.Tensor)
    assert converted["b"] == [1, "c"]
    assert isinstance(converted["d"], np.ndarray)
    assert default_convert(Point(np.zeros(()), 1)).x.item() == 0
