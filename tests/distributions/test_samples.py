"""Samples of a fixed seed: they follow the distribution functions, and have the moments."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import flambeau as t
from flambeau import distributions as d
from tests.distributions.cases import ALL, IDS, build
from tests.distributions.test_scipy import CONTINUOUS, DISCRETE

COUNT = 20000


@pytest.mark.parametrize("name", list(CONTINUOUS))
def test_continuous_samples_follow_the_distribution_function(name: str) -> None:
    ours, scipy, _ = CONTINUOUS[name]
    t.manual_seed(0)
    samples = ours.sample((COUNT,)).numpy().ravel()
    if name == "VonMises":  # SciPy counts angles from pi below the centre
        samples = (samples - 0.5 + np.pi) % (2 * np.pi) - np.pi + 0.5
    assert stats.kstest(samples, scipy.cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", list(DISCRETE))
def test_discrete_samples_come_in_proportion(name: str) -> None:
    ours, scipy = DISCRETE[name]
    t.manual_seed(0)
    samples = ours.sample((COUNT,)).numpy().ravel()
    values = np.arange(samples.max() + 1)
    expected = scipy.pmf(values) * COUNT
    seen = np.bincount(samples.astype(int)).astype(float)
    often = expected > 5
    pooled = (
        [*seen[often], COUNT - seen[often].sum()],
        [*expected[often], COUNT - expected[often].sum()],
    )
    if pooled[1][-1] < 1:
        pooled = (
            pooled[0][:-1],
            np.array(pooled[1][:-1]) * sum(pooled[0][:-1]) / sum(pooled[1][:-1]),
        )
    assert stats.chisquare(*pooled, sum_check=False).pvalue > 1e-3


# No moments in closed form; tails so heavy that means do not settle; means of something else.
WITHOUT_MOMENTS = (
    "LKJCholesky",
    "LogisticNormal",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "TransformedDistribution",
)
UNSETTLED = ("Cauchy", "HalfCauchy")
OTHER_MEANS = ("Categorical", "VonMises")


@pytest.mark.parametrize(
    "source",
    [s for name, s in ALL if name not in (*WITHOUT_MOMENTS, *UNSETTLED, *OTHER_MEANS)],
)
def test_moments_of_samples(source: str) -> None:
    p = build(t, source)
    mean, variance = p.mean.double().numpy(), p.variance.double().numpy()
    t.manual_seed(0)
    samples = p.sample((COUNT,)).double().numpy()
    error = np.sqrt(variance / COUNT)
    settled = np.isfinite(error) & (error > 0)
    distance = np.abs(samples.mean(0) - mean)
    assert (distance[settled] < 6 * error[settled]).all()


def test_shapes() -> None:
    p = d.MultivariateNormal(t.zeros(4, 1, 3), t.eye(3).expand(2, 3, 3))
    assert p.batch_shape == (4, 2)
    assert p.event_shape == (3,)
    for shape in ((), (5,), [5], t.Size([5, 6])):
        assert p.sample(shape).shape == (*shape, 4, 2, 3)
        assert p.rsample(shape).shape == (*shape, 4, 2, 3)
    assert p.log_prob(t.zeros(3)).shape == (4, 2)
    assert p.log_prob(t.zeros(7, 4, 2, 3)).shape == (7, 4, 2)
    with pytest.warns(FutureWarning, match="sample_n"):
        assert p.sample_n(5).shape == (5, 4, 2, 3)


def test_samples_carry_no_gradient_but_rsamples_do() -> None:
    loc = t.zeros(3, requires_grad=True)
    p = d.Normal(loc, 1.0)
    assert not p.sample().requires_grad
    assert not p.sample((2,)).requires_grad
    assert p.rsample().requires_grad
    probs = t.tensor([0.2, 0.8], requires_grad=True)
    assert not d.Categorical(probs).sample().requires_grad
    assert d.OneHotCategoricalStraightThrough(probs).rsample().requires_grad


def test_one_hot_samples_are_one_hot() -> None:
    t.manual_seed(0)
    samples = d.OneHotCategorical(t.tensor([0.2, 0.8])).sample((100,))
    assert d.constraints.one_hot.check(samples).all()
    counts = d.Multinomial(9, t.tensor([0.2, 0.3, 0.5])).sample((100,))
    assert (counts.sum(-1) == 9).all()


@pytest.mark.parametrize(("name", "source"), ALL, ids=IDS)
def test_samples_lie_in_the_support(name: str, source: str) -> None:
    t.manual_seed(1)
    p = build(t, source)
    assert p.support.check(p.sample((200,))).all()


@pytest.mark.parametrize("dtype", [t.float32, t.float64])
def test_samples_have_the_dtype_of_the_parameters(dtype: t.dtype) -> None:
    one = t.ones(2, dtype=dtype)
    for p in (
        d.Normal(one, one),
        d.Gamma(one, one),
        d.Beta(one, one),
        d.VonMises(one, one),
        d.Bernoulli(one / 2),
        d.Poisson(one),
        d.Gumbel(one, one),
        d.LKJCholesky(3, one),
    ):
        assert p.sample().dtype == dtype


def test_enumerate_support() -> None:
    p = d.Categorical(t.ones(2, 3))
    assert p.enumerate_support().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert p.enumerate_support(expand=False).tolist() == [[0], [1], [2]]
    np.testing.assert_allclose(p.log_prob(p.enumerate_support()).exp().sum(0).numpy(), 1, 1e-6)
    binomial = d.Binomial(4, t.tensor([0.3, 0.5]))
    values = binomial.enumerate_support()
    np.testing.assert_allclose(binomial.log_prob(values).exp().sum(0).numpy(), 1, 1e-6)
