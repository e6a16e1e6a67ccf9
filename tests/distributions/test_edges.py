"""Densities and samples where parameters are infinite, or a value lies at an end of the support."""

from __future__ import annotations

import math

import pytest

import flambeau as t
from flambeau import distributions as d

SURE = [math.inf, -math.inf]


def test_what_is_certain_not_to_happen() -> None:
    """A coin of infinite log-odds never shows the other side."""
    wrong = t.tensor([0.0, 1.0])
    assert d.Bernoulli(logits=t.tensor(SURE)).log_prob(wrong).tolist() == [-math.inf, -math.inf]
    density = d.ContinuousBernoulli(logits=t.tensor(SURE)).log_prob(t.tensor([0.25, 0.75]))
    assert density.tolist() == [-math.inf, -math.inf]


@pytest.mark.parametrize("dtype", [t.float32, t.float64])
def test_losses_of_infinite_logits(dtype: t.dtype) -> None:
    logits = t.tensor([*SURE, *SURE], dtype=dtype)
    target = t.tensor([0.0, 1.0, 0.5, 0.5], dtype=dtype)
    loss = t.nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    assert loss.tolist() == [math.inf] * 4


def test_the_end_of_a_uniform_generalized_pareto() -> None:
    p = d.GeneralizedPareto(0.0, 1.0, t.tensor(-1.0))  # uniform on [0, 1]
    assert p.log_prob(t.tensor([0.0, 0.5, 1.0])).tolist() == [0.0, 0.0, 0.0]


def test_relaxed_coins_stay_off_their_ends() -> None:
    """The probability is kept off 0 and 1, also where log-odds were given."""
    p = d.RelaxedBernoulli(t.tensor(100.0), logits=t.tensor([50.0, -50.0]))
    drawn = p.sample((100,))
    assert 0.5 < drawn[:, 0].mean().item() < 0.56
    assert 0.44 < drawn[:, 1].mean().item() < 0.5
