"""Samples as functions of the parameters: derivatives at a fixed probability."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import flambeau as t
from flambeau import distributions as d

Quantile = Callable[..., np.ndarray]
# A distribution of its parameters, and the quantile function of SciPy with the same parameters.
REPARAMETERISED: dict[str, tuple[Any, tuple[float, ...], Quantile]] = {
    "Normal": (d.Normal, (0.5, 2.0), lambda u, a, b: stats.norm(a, b).ppf(u)),
    "Uniform": (d.Uniform, (0.5, 2.0), lambda u, a, b: a + u * (b - a)),
    "Exponential": (d.Exponential, (1.5,), lambda u, a: stats.expon(scale=1 / a).ppf(u)),
    "Laplace": (d.Laplace, (0.5, 2.0), lambda u, a, b: stats.laplace(a, b).ppf(u)),
    "Cauchy": (d.Cauchy, (0.5, 2.0), lambda u, a, b: stats.cauchy(a, b).ppf(u)),
    "Gumbel": (d.Gumbel, (0.5, 2.0), lambda u, a, b: stats.gumbel_r(a, b).ppf(u)),
    "LogNormal": (d.LogNormal, (0.5, 0.7), lambda u, a, b: np.exp(a + b * special.ndtri(u))),
    "Weibull": (d.Weibull, (1.5, 2.5), lambda u, a, b: stats.weibull_min(b, scale=a).ppf(u)),
    "Pareto": (d.Pareto, (1.5, 2.5), lambda u, a, b: stats.pareto(b, scale=a).ppf(u)),
    "Kumaraswamy": (d.Kumaraswamy, (1.5, 2.5), lambda u, a, b: (1 - (1 - u) ** (1 / b)) ** (1 / a)),
    "Gamma": (d.Gamma, (2.5, 1.5), lambda u, a, b: special.gammaincinv(a, u) / b),
    "small Gamma": (d.Gamma, (0.3, 1.5), lambda u, a, b: special.gammaincinv(a, u) / b),
    "Chi2": (d.Chi2, (3.5,), lambda u, a: stats.chi2(a).ppf(u)),
    "InverseGamma": (d.InverseGamma, (2.5, 1.5), lambda u, a, b: stats.invgamma(a, scale=b).ppf(u)),
    "Beta": (d.Beta, (2.5, 0.75), lambda u, a, b: special.betaincinv(a, b, u)),
}


@pytest.mark.parametrize("name", list(REPARAMETERISED))
def test_rsample(name: str) -> None:
    """A sample, seen as the quantile of its own probability, moves as the quantile does."""
    kind, values, quantile = REPARAMETERISED[name]
    parameters = [t.full((50,), value, dtype=t.float64, requires_grad=True) for value in values]
    t.manual_seed(0)
    sample = kind(*parameters).rsample()
    sample.sum().backward()
    x = sample.detach().numpy()
    share = _share_below(x, values, quantile)
    for place, parameter in enumerate(parameters):
        step = 1e-4 * max(abs(values[place]), 1)
        ends = []
        for sign in (1, -1):
            moved = list(values)
            moved[place] += sign * step
            ends.append(quantile(share, *moved))
        assert parameter.grad is not None
        expected = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(parameter.grad.numpy(), expected, 1e-4, 1e-6)


def _share_below(x: np.ndarray, values: tuple[float, ...], quantile: Quantile) -> np.ndarray:
    """The probability of numbers below `x`, by bisection of the quantile function."""
    low, high = np.zeros_like(x), np.ones_like(x)
    falling = quantile(np.array(0.9), *values) < quantile(np.array(0.1), *values)
    for _ in range(60):
        middle = (low + high) / 2
        below = (quantile(middle, *values) < x) != falling
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


GAMMA_SHAPES = [1e-3, 0.05, 0.5, 1.0, 3.0, 50.0, 900.0, 1.2e4, 1e6]


@pytest.mark.parametrize("shape", GAMMA_SHAPES)
def test_gamma_gradient(shape: float) -> None:
    share = np.array([0.05, 0.3, 0.5, 0.8, 0.99]) if shape > 0.01 else np.array([0.9995, 0.9999])
    x = special.gammaincinv(shape, share)
    ours = t._standard_gamma_grad(t.full((len(x),), shape, dtype=t.float64), t.tensor(x))
    step = shape * 1e-5
    expected = special.gammaincinv(shape + step, share) - special.gammaincinv(shape - step, share)
    np.testing.assert_allclose(ours.numpy(), expected / (2 * step), 2e-5)


@pytest.mark.parametrize("b", [0.05, 0.7, 2.0, 40.0, 3000.0])
@pytest.mark.parametrize("a", [0.05, 0.7, 2.0, 40.0, 3000.0])
def test_dirichlet_gradient(a: float, b: float) -> None:
    share = np.array([0.2, 0.5, 0.8])
    x = special.betaincinv(a, b, share)
    inside = (x > 1e-12) & (x < 1 - 1e-9)  # where quantiles can be told from the ends
    x, share = x[inside], share[inside]
    full = [t.full((len(x),), value, dtype=t.float64) for value in (a, a + b)]
    ours = t._dirichlet_grad(t.tensor(x), *full)
    step = a * 1e-5
    rise = special.betaincinv(a + step, b, share) - special.betaincinv(a - step, b, share)
    np.testing.assert_allclose(ours.numpy(), rise / (2 * step) / (1 - x), 1e-4)


def test_dirichlet_samples_stay_on_the_simplex_as_they_move() -> None:
    concentration = t.tensor([0.5, 2.0, 3.0], dtype=t.float64, requires_grad=True)
    t.manual_seed(0)
    sample = d.Dirichlet(concentration).rsample((20,))
    (gradient,) = t.autograd.grad(sample.sum(), concentration)
    np.testing.assert_allclose(gradient.numpy(), 0, atol=1e-9)


def test_gradient_of_the_mean_by_samples() -> None:
    """The mean of gradients of samples is the gradient of the mean."""
    concentration = t.tensor([0.5, 2.0, 3.0], dtype=t.float64, requires_grad=True)
    t.manual_seed(0)
    p = d.Dirichlet(concentration)
    for k in range(3):
        (sampled,) = t.autograd.grad(p.rsample((20000,)).mean(0)[k], concentration)
        (exact,) = t.autograd.grad(p.mean[k], concentration)
        np.testing.assert_allclose(sampled.numpy(), exact.numpy(), atol=5e-3)


def test_bad_arguments_of_the_gradients() -> None:
    with pytest.raises(RuntimeError, match=r"_standard_gamma_grad: .*same dtype.*float32.*float64"):
        t._standard_gamma_grad(t.ones(2), t.ones(2, dtype=t.float64))
    with pytest.raises(RuntimeError, match=r"_dirichlet_grad: .*same dtype"):
        t._dirichlet_grad(t.ones(2), t.ones(2, dtype=t.float64), t.ones(2))
    assert np.isnan(t._standard_gamma_grad(t.tensor([-1.0]), t.tensor([1.0])).item())
