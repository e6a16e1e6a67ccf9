"""Derivatives of every operator of the table, first and second, against finite differences."""

from typing import Any

import pytest

import flambeau
from tests.ops.check import assert_values, dtype_name, outputs, to_numpy
from tests.ops.gradients import CONSTANT_FIRST, PRECISE, REFUSED, calls, is_differentiable
from tests.ops.make import Input, to_module
from tests.ops.registry import all_samples
from tests.ops.table import operators

TABLE = operators()
DIFFERENTIABLE = [
    name for name in sorted(set(TABLE) & set(all_samples())) if is_differentiable(TABLE[name])
]
CLASSES = {"formulas", "composite", "none", "not_implemented"}
# Second derivatives magnify the rounding of the first.
TOLERANCE = (1e-8, 1e-8)


def gradients(results: tuple[Any, ...], leaves: list[Any]) -> tuple[Any, ...]:
    """Gradients of the sum of `results`, each weighted by a fixed pattern."""
    weights = [
        flambeau.linspace(0.5, 1.5, result.numel(), dtype=result.dtype).reshape(result.shape)
        for result in results
    ]
    return flambeau.autograd.grad(results, leaves, weights, allow_unused=True)


@pytest.mark.parametrize("name", sorted(TABLE))
def test_every_operator_says_how_it_is_differentiated(name: str) -> None:
    operator = TABLE[name]
    unsaid = [
        signature
        for signature, each in zip(operator.signatures, operator.gradients, strict=True)
        if each not in CLASSES
    ]
    assert not unsaid, f"no grad= in the table: {unsaid}"


@pytest.mark.parametrize("dtype", PRECISE)
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients(name: str, dtype: str) -> None:
    for call in calls(flambeau, TABLE[name], dtype):
        leaves = call.leaves()
        if not call(*leaves):
            continue
        flambeau.manual_seed(0)
        try:
            flambeau.autograd.gradcheck(call, leaves, fast_mode=True)
            flambeau.autograd.gradgradcheck(call, leaves, fast_mode=True)
        except Exception as error:
            raise AssertionError(f"{name}{call.sample!r}: {error}") from error


def _fits(target: Any, result: Any) -> bool:
    """Whether `result` can be written to the tensor `target`."""
    if not isinstance(target, Input):
        return False
    return target.shape == tuple(result.shape) and target.dtype == dtype_name(result)


@pytest.mark.parametrize("dtype", PRECISE)
@pytest.mark.parametrize(
    "name", [each for each in DIFFERENTIABLE if "inplace" in TABLE[each].function_forms]
)
def test_in_place_form_has_the_same_gradient(name: str, dtype: str) -> None:
    for call in calls(flambeau, TABLE[name], dtype):
        leaves, others = call.leaves(), call.leaves()
        results = call(*leaves)
        if not results or not _fits(call.sample.args[0], results[0]):
            continue
        expected = gradients(results, leaves)
        actual = gradients(call.in_place(*others), others)
        for a, b in zip(actual, expected, strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                assert_values(to_numpy(a), to_numpy(b), TOLERANCE, f"{name}_{call.sample!r}")


WITHOUT = sorted(
    {name for name in TABLE if set(TABLE[name].gradients) == {"not_implemented"}}
    | CONSTANT_FIRST
    | REFUSED
)


@pytest.mark.parametrize("name", WITHOUT)
def test_missing_derivative_is_refused_by_name(name: str) -> None:
    """Most are refused in backward alone: until then nobody has asked for the derivative."""
    operator = TABLE[name]
    sample = all_samples()[name].of_dtype("float64")[0]
    first, *rest = to_module(flambeau, sample.args)
    history = first.requires_grad_().clone()

    def differentiate() -> None:
        result = operator.call(flambeau, (history, *rest), to_module(flambeau, sample.kwargs))
        outputs(result)[0].sum().backward()

    with pytest.raises((NotImplementedError, RuntimeError), match=operator.method_name):
        differentiate()
