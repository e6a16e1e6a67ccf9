"""The native operators that distributions are made of."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import flambeau as t
from flambeau._C import _all_within, _normal_divergence, _normal_log_prob
from flambeau.autograd import gradcheck, gradgradcheck


def leaf(*values: float) -> t.Tensor:
    return t.tensor(values, dtype=t.float64, requires_grad=True)


def test_normal_log_prob() -> None:
    value, loc, scale = t.linspace(-3, 3, 7), t.tensor([[0.0], [1.0]]), t.tensor(2.0)
    expected = stats.norm(loc.numpy(), 2.0).logpdf(value.numpy())
    np.testing.assert_allclose(_normal_log_prob(value, loc, scale).numpy(), expected, 1e-6)
    whole = _normal_log_prob(t.tensor([1, 2]), t.tensor(0), t.tensor(1))
    np.testing.assert_allclose(whole.numpy(), stats.norm.logpdf([1, 2]), 1e-6)
    for dtype in (t.float16, t.bfloat16, t.float64):
        assert _normal_log_prob(*(x.to(dtype) for x in (value, loc, scale))).dtype == dtype


def test_normal_divergence() -> None:
    assert _normal_divergence(t.tensor(0.0), t.tensor(1.0)).item() == 0
    shift, ratio = t.tensor([0.5, -1.0]), t.tensor([2.0, 0.25])
    expected = 0.5 * (ratio**2 + shift**2 - 1) - ratio.log()
    np.testing.assert_allclose(_normal_divergence(shift, ratio).numpy(), expected.numpy(), 1e-6)


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (_normal_log_prob, (leaf(0.5, -1.0), leaf(0.0, 2.0), leaf(1.0, 0.5))),
        (_normal_divergence, (leaf(0.5, -1.0), leaf(2.0, 0.25))),
    ],
)
def test_derivatives(function, inputs) -> None:
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)


def test_batches() -> None:
    value, loc, scale = t.randn(3, 4), t.randn(4), t.rand(4) + 0.5
    batched = t.vmap(lambda x: _normal_log_prob(x, loc, scale))(value)
    np.testing.assert_allclose(batched.numpy(), _normal_log_prob(value, loc, scale).numpy(), 1e-6)
    with pytest.raises(RuntimeError, match="vmap"):
        t.vmap(lambda x: t.distributions.Normal(x, scale).log_prob(x))(value)


def test_all_within() -> None:
    x = t.tensor([0.0, 0.5, 1.0])
    assert _all_within(x, 0, 1)
    assert not _all_within(x, 0, 1, above=True)
    assert not _all_within(x, 0, 1, below=True)
    assert not _all_within(x, 0, 1, whole=True)
    assert _all_within(x[::2], 0, 1, whole=True)
    assert not _all_within(t.tensor([1.0, math.nan]), -math.inf, math.inf)
    assert _all_within(t.tensor([1.0, math.inf]), -math.inf, math.inf)
    assert not _all_within(t.tensor([math.inf]), 0, math.inf, whole=True)
    assert _all_within(t.tensor([]), 0, 1)


def test_all_within_of_long_tensors() -> None:
    x = t.rand(5000)
    assert _all_within(x, 0, 1)
    for wrong in (-0.5, 1.5, math.nan):
        x[4321] = wrong
        assert not _all_within(x, 0, 1)
        assert not _all_within(x[1::3], 0, 1)
    assert _all_within(t.arange(5000.0), 0, 4999, whole=True)


def test_bounds_are_rounded_to_the_dtype() -> None:
    for dtype in (t.float32, t.float64):
        edge = t.tensor(0.1, dtype=dtype)
        assert _all_within(edge, 0.1, 1)
        assert not _all_within(edge, 0.1, 1, above=True)


@pytest.mark.parametrize("dtype", [t.bool, t.uint8, t.int16, t.int64, t.float16, t.bfloat16])
def test_all_within_of_other_types(dtype: t.dtype) -> None:
    x = t.tensor([0, 1], dtype=dtype)
    assert _all_within(x, 0, 1, whole=True)
    assert not _all_within(x, 0, 1, above=True)


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(NotImplementedError, match=r"_all_within: .*complex64"):
        _all_within(t.ones(2, dtype=t.complex64), 0, 1)
