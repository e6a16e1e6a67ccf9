"""Densities, distribution functions and moments against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import flambeau as t
from flambeau import distributions as d

F64 = t.float64


def _t(*values: float) -> t.Tensor:
    return t.tensor(values, dtype=F64)


# A distribution, the same of SciPy, and where to look at both.
REAL = np.linspace(-4, 4, 9)
POSITIVE = np.linspace(0.125, 6, 9)
UNIT = np.linspace(0.05, 0.95, 9)
COUNTS = np.arange(9.0)
CONTINUOUS: dict[str, tuple[d.Distribution, Any, np.ndarray]] = {
    "Normal": (d.Normal(_t(0.5), 2.0), stats.norm(0.5, 2.0), REAL),
    "Cauchy": (d.Cauchy(_t(0.5), 2.0), stats.cauchy(0.5, 2.0), REAL),
    "Laplace": (d.Laplace(_t(0.5), 2.0), stats.laplace(0.5, 2.0), REAL),
    "Gumbel": (d.Gumbel(_t(0.5), 2.0), stats.gumbel_r(0.5, 2.0), REAL),
    "StudentT": (d.StudentT(_t(5.0), 0.5, 2.0), stats.t(5.0, 0.5, 2.0), REAL),
    "VonMises": (
        d.VonMises(_t(0.5), t.tensor(2.0, dtype=F64)),
        stats.vonmises(2.0, 0.5),
        np.linspace(-3, 3, 9),
    ),
    "Uniform": (d.Uniform(_t(-5.0), 5.0), stats.uniform(-5.0, 10.0), REAL),
    "Exponential": (d.Exponential(_t(1.5)), stats.expon(scale=1 / 1.5), POSITIVE),
    "Gamma": (d.Gamma(_t(2.5), 1.5), stats.gamma(2.5, scale=1 / 1.5), POSITIVE),
    "Chi2": (d.Chi2(_t(3.5)), stats.chi2(3.5), POSITIVE),
    "InverseGamma": (d.InverseGamma(_t(5.5), 1.5), stats.invgamma(5.5, scale=1.5), POSITIVE),
    "FisherSnedecor": (d.FisherSnedecor(_t(3.0), 9.0), stats.f(3.0, 9.0), POSITIVE),
    "LogNormal": (d.LogNormal(_t(0.5), 0.75), stats.lognorm(0.75, scale=np.exp(0.5)), POSITIVE),
    "HalfNormal": (d.HalfNormal(_t(1.5)), stats.halfnorm(scale=1.5), POSITIVE),
    "HalfCauchy": (d.HalfCauchy(_t(1.5)), stats.halfcauchy(scale=1.5), POSITIVE),
    "Weibull": (d.Weibull(_t(1.5), 2.5), stats.weibull_min(2.5, scale=1.5), POSITIVE),
    "Pareto": (d.Pareto(_t(0.1), 4.5), stats.pareto(4.5, scale=0.1), POSITIVE),
    "GeneralizedPareto": (
        d.GeneralizedPareto(_t(0.1), 1.5, 0.25),
        stats.genpareto(0.25, 0.1, 1.5),
        POSITIVE,
    ),
    "Beta": (d.Beta(_t(2.5), 0.75), stats.beta(2.5, 0.75), UNIT),
}
DISCRETE: dict[str, tuple[d.Distribution, Any]] = {
    "Bernoulli": (d.Bernoulli(_t(0.3)), stats.bernoulli(0.3)),
    "Binomial": (d.Binomial(12, _t(0.3)), stats.binom(12, 0.3)),
    "Geometric": (d.Geometric(_t(0.3)), stats.geom(0.3, loc=-1)),
    "NegativeBinomial": (d.NegativeBinomial(_t(3.5), _t(0.3)), stats.nbinom(3.5, 0.7)),
    "Poisson": (d.Poisson(_t(2.5)), stats.poisson(2.5)),
}


# Distributions whose functions PyTorch does not have either.
NO_CDF = ("Beta", "FisherSnedecor", "StudentT", "VonMises")
NO_ICDF = (*NO_CDF, "Chi2", "Gamma", "InverseGamma")


@pytest.mark.parametrize("name", list(CONTINUOUS))
def test_continuous(name: str) -> None:
    ours, scipy, points = CONTINUOUS[name]
    at = t.tensor(points)
    np.testing.assert_allclose(ours.log_prob(at).numpy(), scipy.logpdf(points), 1e-7, 1e-9)
    if name not in NO_CDF:
        np.testing.assert_allclose(ours.cdf(at).numpy(), scipy.cdf(points), 1e-7, 1e-9)
    if name not in NO_ICDF:
        np.testing.assert_allclose(ours.icdf(t.tensor(UNIT)).numpy(), scipy.ppf(UNIT), 1e-6, 1e-9)
    if name in ("Cauchy", "VonMises"):  # has none; those of angles are something else
        return
    np.testing.assert_allclose(ours.mean.numpy(), [scipy.mean()], 1e-7)
    np.testing.assert_allclose(ours.variance.numpy(), [scipy.var()], 1e-7)
    if name != "FisherSnedecor":
        np.testing.assert_allclose(ours.entropy().numpy(), [scipy.entropy()], 1e-6)


@pytest.mark.parametrize("name", list(DISCRETE))
def test_discrete(name: str) -> None:
    ours, scipy = DISCRETE[name]
    points = COUNTS[:2] if name == "Bernoulli" else COUNTS
    log_prob = ours.log_prob(t.tensor(points)).numpy()
    np.testing.assert_allclose(log_prob, scipy.logpmf(points), 1e-7, 1e-9)
    np.testing.assert_allclose(ours.mean.numpy(), [scipy.mean()], 1e-7)
    np.testing.assert_allclose(ours.variance.numpy(), [scipy.var()], 1e-7)
    if name in ("Bernoulli", "Binomial", "Geometric"):
        np.testing.assert_allclose(ours.entropy().numpy(), [scipy.entropy()], 1e-6)


COVARIANCE = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 1.5]])
LOC = np.array([0.5, -1.0, 0.0])


def _normals() -> dict[str, d.Distribution]:
    loc, covariance = t.tensor(LOC), t.tensor(COVARIANCE)
    return {
        "covariance_matrix": d.MultivariateNormal(loc, covariance),
        "precision_matrix": d.MultivariateNormal(loc, precision_matrix=covariance.inverse()),
        "scale_tril": d.MultivariateNormal(loc, scale_tril=t.linalg.cholesky(covariance)),
    }


@pytest.mark.parametrize("name", list(_normals()))
def test_multivariate_normal(name: str) -> None:
    ours = _normals()[name]
    scipy = stats.multivariate_normal(LOC, COVARIANCE)
    points = np.random.default_rng(0).normal(size=(4, 2, 3))
    log_prob = ours.log_prob(t.tensor(points)).numpy()
    np.testing.assert_allclose(log_prob, scipy.logpdf(points), 1e-7)
    np.testing.assert_allclose(ours.entropy().item(), scipy.entropy(), 1e-7)
    np.testing.assert_allclose(ours.variance.numpy(), np.diag(COVARIANCE), 1e-7)
    assert isinstance(ours, d.MultivariateNormal)
    np.testing.assert_allclose(ours.covariance_matrix.numpy(), COVARIANCE, 1e-7, 1e-9)
    np.testing.assert_allclose(ours.precision_matrix.numpy(), np.linalg.inv(COVARIANCE), 1e-7, 1e-9)


def test_low_rank_multivariate_normal() -> None:
    factor = np.array([[1.0, 0.5], [0.5, -1.0], [-2.0, 0.25]])
    diagonal = np.array([1.0, 0.5, 2.0])
    ours = d.LowRankMultivariateNormal(t.tensor(LOC), t.tensor(factor), t.tensor(diagonal))
    covariance = factor @ factor.T + np.diag(diagonal)
    scipy = stats.multivariate_normal(LOC, covariance)
    points = np.random.default_rng(0).normal(size=(4, 3))
    np.testing.assert_allclose(ours.log_prob(t.tensor(points)).numpy(), scipy.logpdf(points), 1e-7)
    np.testing.assert_allclose(ours.entropy().item(), scipy.entropy(), 1e-7)
    np.testing.assert_allclose(ours.covariance_matrix.numpy(), covariance, 1e-7)
    np.testing.assert_allclose(ours.precision_matrix.numpy(), np.linalg.inv(covariance), 1e-7, 1e-9)
    triangle = ours.scale_tril.numpy()
    np.testing.assert_allclose(triangle @ triangle.T, covariance, 1e-7, 1e-9)
    np.testing.assert_allclose(ours.variance.numpy(), np.diag(covariance), 1e-7)


def test_wishart() -> None:
    ours = d.Wishart(t.tensor(5.5, dtype=F64), t.tensor(COVARIANCE))
    scipy = stats.wishart(5.5, COVARIANCE)
    t.manual_seed(0)
    value = ours.sample()
    np.testing.assert_allclose(ours.log_prob(value).item(), scipy.logpdf(value.numpy()), 1e-7)
    np.testing.assert_allclose(ours.mean.numpy(), scipy.mean(), 1e-7)
    np.testing.assert_allclose(ours.variance.numpy(), scipy.var(), 1e-7)
    np.testing.assert_allclose(ours.entropy().item(), scipy.entropy(), 1e-7)
    np.testing.assert_allclose(ours.mode.numpy(), scipy.mode(), 1e-7)


def test_dirichlet() -> None:
    concentration = np.array([0.5, 2.0, 3.5])
    ours = d.Dirichlet(t.tensor(concentration))
    scipy = stats.dirichlet(concentration)
    value = np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(ours.log_prob(t.tensor(value)).item(), scipy.logpdf(value), 1e-7)
    np.testing.assert_allclose(ours.mean.numpy(), scipy.mean(), 1e-7)
    np.testing.assert_allclose(ours.variance.numpy(), scipy.var(), 1e-7)
    np.testing.assert_allclose(ours.entropy().item(), scipy.entropy(), 1e-7)


def test_multinomial() -> None:
    shares = np.array([0.2, 0.3, 0.5])
    ours = d.Multinomial(7, t.tensor(shares))
    scipy = stats.multinomial(7, shares)
    value = np.array([1.0, 2.0, 4.0])
    np.testing.assert_allclose(ours.log_prob(t.tensor(value)).item(), scipy.logpmf(value), 1e-7)
    np.testing.assert_allclose(ours.entropy().item(), scipy.entropy(), 1e-7)
    np.testing.assert_allclose(ours.variance.numpy(), np.diag(scipy.cov()), 1e-7)
