"""Gradients of the whole operator table against torch: values, and the names of graph nodes."""

import warnings
import zlib
from typing import Any

import numpy as np
import pytest
import torch

import flambeau
from tests.conformance.differences import GRADIENTS, NODES
from tests.ops.check import assert_values, dtype_name
from tests.ops.gradients import PRECISE, Call, calls, is_differentiable
from tests.ops.registry import all_samples
from tests.ops.table import operators

TABLE = operators()
COMPARED = [
    name for name in sorted(set(TABLE) & set(all_samples())) if is_differentiable(TABLE[name])
]
TOLERANCE = (1e-8, 1e-9)


def weight(t: Any, result: Any, seed: int) -> Any:
    """What a result counts in the sum that is differentiated."""
    random = np.random.default_rng(seed)
    values = random.uniform(-1, 1, tuple(result.shape))
    if dtype_name(result) == "complex128":
        values = values + 1j * random.uniform(-1, 1, tuple(result.shape))
    return t.from_numpy(np.asarray(values))


def gradients(call: Call) -> tuple[list[str], list[np.ndarray | None]] | Exception:
    """The names of the nodes of the results, and the gradients of the leaves."""
    leaves = call.leaves()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = call(*leaves)
            if not results:
                return [], []
            seed = zlib.crc32(call.operator.name.encode())
            weights = [weight(call.t, each, seed + i) for i, each in enumerate(results)]
            found = call.t.autograd.grad(results, leaves, weights, allow_unused=True)
    except Exception as error:
        return error
    names = [each.grad_fn.name().rpartition("::")[2] for each in results if each.grad_fn]
    return names, [
        None if each is None else each.resolve_conj().numpy(force=True) for each in found
    ]


@pytest.mark.parametrize("dtype", PRECISE)
@pytest.mark.parametrize("name", COMPARED)
def test_same_gradients_as_torch(name: str, dtype: str) -> None:
    # The parts of a composition may differ.
    is_named = "composite" not in TABLE[name].gradients and name not in NODES
    theirs = calls(torch, TABLE[name], dtype, smooth=False)
    for ours, other in zip(calls(flambeau, TABLE[name], dtype, smooth=False), theirs, strict=True):
        expected = gradients(other)
        if isinstance(expected, Exception) or not expected[1]:
            continue  # torch has no derivative here; we may
        actual = gradients(ours)
        what = f"{name}{ours.sample!r}"
        if isinstance(actual, Exception):
            if name in GRADIENTS and apart(ours, np.asarray(ours.inputs[0].values).shape).all():
                continue
            raise AssertionError(f"{what}: torch differentiates it") from actual
        if is_named:
            assert actual[0] == expected[0], what
        for a, b in zip(actual[1], expected[1], strict=True):
            # A gradient that torch leaves out is zero, and the other way round.
            if a is None and b is None:
                continue
            a, b = (np.zeros_like(y) if x is None else x for x, y in ((a, b), (b, a)))
            assert_gradient(ours, a, b, what)


def apart(call: Call, shape: tuple[int, ...]) -> np.ndarray:
    """The elements of a gradient that differ from torch's on purpose."""
    if call.operator.name not in GRADIENTS:
        return np.zeros(shape, bool)
    inputs = [np.asarray(each.values) for each in call.sample.inputs()]
    return GRADIENTS[call.operator.name].mask(inputs, shape)


def assert_gradient(call: Call, a: np.ndarray, b: np.ndarray, what: str) -> None:
    """One gradient against that of torch, point by point."""
    points = apart(call, a.shape)
    if points.any() and GRADIENTS[call.operator.name].within is not None:
        assert_values(a[points], b[points], GRADIENTS[call.operator.name].within, what)
    assert_values(np.where(points, 0, a), np.where(points, 0, b), TOLERANCE, what)
