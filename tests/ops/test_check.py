"""The comparisons of the operator tests object to what is wrong: tests of the tests."""

from typing import Any

import numpy as np
import pytest

import flambeau
from tests.ops.check import assert_identical, assert_matches_reference, assert_values
from tests.ops.make import Input, Make, to_module
from tests.ops.registry import Sample, Samples, call


def judge(result: Any, expected: Any, sample: Sample | None = None, **changes: Any) -> None:
    sample = sample or call(Make("planted", "float32")(2))
    owner = Samples("planted", lambda make: iter(()), **changes)
    assert_matches_reference(result, expected, owner, sample)


def test_right_values_pass() -> None:
    judge(flambeau.tensor([1.0, float("nan")]), np.array([1.0, np.nan]))


@pytest.mark.parametrize("factor", [1.001, 0.9999, -1.0, np.nan, np.inf])
def test_wrong_value(factor: float) -> None:
    with pytest.raises(AssertionError, match="planted"):
        judge(flambeau.tensor([1.0, 2.0]), np.array([1.0, 2.0 * factor]))


def test_wrong_shape() -> None:
    with pytest.raises(AssertionError, match=r"shape \(2,\), expected \(1, 2\)"):
        judge(flambeau.tensor([1.0, 2.0]), np.array([[1.0, 2.0]]))


def test_wrong_category() -> None:
    with pytest.raises(AssertionError, match="expected a type like int64"):
        judge(flambeau.tensor([1.0, 2.0]), np.array([1, 2]))


def test_wrong_precision() -> None:
    with pytest.raises(AssertionError, match="result is float64, inputs are float32"):
        judge(flambeau.tensor([1.0, 2.0], dtype=flambeau.float64), np.array([1.0, 2.0]))


def test_wrong_number_of_outputs() -> None:
    with pytest.raises(AssertionError, match="1 outputs, expected 2"):
        judge(flambeau.tensor([1.0]), (np.array([1.0]), np.array([1.0])))


def test_integers_are_exact() -> None:
    with pytest.raises(AssertionError):
        assert_values(np.array([1 << 40]), np.array([(1 << 40) + 1]), (1e-3, 1e-3), "planted")


def test_identical_is_to_the_bit() -> None:
    one = flambeau.tensor([1.0])
    with pytest.raises(AssertionError):
        assert_identical(one, one + 2e-7, "planted")


def test_not_unique_results_are_compared_through_a_function() -> None:
    judge(flambeau.tensor([-2.0]), np.array([2.0]), through=np.abs)
    with pytest.raises(AssertionError):
        judge(flambeau.tensor([-3.0]), np.array([2.0]), through=np.abs)


@pytest.mark.parametrize("dtype", ["bool", "int8", "bfloat16", "float64", "complex64"])
@pytest.mark.parametrize("layout", ["contiguous", "strided", "transposed"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0, 3)], ids=str)
def test_layouts_keep_values(dtype: str, layout: str, shape: tuple[int, ...]) -> None:
    made = Make("planted", dtype)(*shape)
    moved: Input = made if layout == "contiguous" else getattr(made, layout)()
    tensor = to_module(flambeau, moved)
    assert_identical(tensor, to_module(flambeau, made), repr(moved))
    if layout != "contiguous" and len(shape) > 1 and made.values.size:
        assert not tensor.is_contiguous()
