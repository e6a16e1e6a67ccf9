"""Divergences against the mean of log p - log q over samples, and how they are found."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import flambeau as t
from flambeau import distributions as d
from tests.distributions.cases import build
from tests.distributions.pairs import PAIRS

COUNT = 40000


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Densities where there is none, too."""
    d.Distribution.set_default_validate_args(False)
    yield
    d.Distribution.set_default_validate_args(True)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize(("p", "q"), PAIRS, ids=[f"{p} from {q}" for p, q in PAIRS])
def test_divergence(p: str, q: str) -> None:
    one, other = build(t, p), build(t, q)
    divergence = d.kl_divergence(one, other).numpy()
    assert divergence.shape == one.batch_shape
    t.manual_seed(0)
    samples = one.sample((COUNT,))
    inside = other.support.check(samples).numpy().all(0)
    logs = np.stack([each.log_prob(samples).double().numpy() for each in (one, other)])
    # A category of probability zero has the least logarithm that there is.
    possible = inside & ((logs[1] > -14).all(0) | ("Categorical" not in p))
    np.testing.assert_array_equal(np.isfinite(divergence), possible)
    difference = (logs[0] - logs[1])[:, possible]
    error = 6 * difference.std(0) / np.sqrt(COUNT) + 1e-4
    assert (np.abs(divergence[possible] - difference.mean(0)) < error).all()


def test_a_distribution_does_not_diverge_from_itself() -> None:
    for p in {p for p, _ in PAIRS}:
        one = build(t, p)
        if type(one).__name__ == "Categorical":
            continue  # NaN where both rule a category out, as in PyTorch
        np.testing.assert_allclose(d.kl_divergence(one, one).detach().numpy(), 0, atol=2e-5)


def test_subclasses_are_served_by_the_closest_pair() -> None:
    class Mine(d.Normal):
        pass

    class Yours(Mine):
        pass

    p, q = Mine(0.0, 1.0), Yours(1.0, 1.0)
    assert d.kl_divergence(p, q).item() == pytest.approx(0.5)

    @d.register_kl(Mine, d.Normal)
    def mine(p: Mine, q: d.Normal) -> str:
        return "mine"

    @d.register_kl(Mine, Yours)
    def closest(p: Mine, q: Yours) -> str:
        return "closest"

    assert d.kl_divergence(p, d.Normal(0.0, 1.0)) == "mine"
    assert d.kl_divergence(p, q) == "closest"
    assert d.kl_divergence(q, p) == "mine"
    assert d.kl_divergence(d.Normal(1.0, 1.0), p).item() == pytest.approx(0.5)


def test_ambiguity_is_reported() -> None:
    class Left(d.Normal):
        pass

    class Right(d.Normal):
        pass

    d.register_kl(Left, d.Normal)(lambda p, q: "left")
    d.register_kl(d.Normal, Right)(lambda p, q: "right")
    with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(Left, Right\)"):
        assert d.kl_divergence(Left(0.0, 1.0), Right(0.0, 1.0)) == "left"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        d.kl_divergence(Left(0.0, 1.0), Right(0.0, 1.0))


def test_pairs_without_a_divergence() -> None:
    with pytest.raises(NotImplementedError, match="p type VonMises and q type Normal"):
        d.kl_divergence(d.VonMises(t.tensor(0.0), t.tensor(1.0)), d.Normal(0.0, 1.0))
    with pytest.raises(NotImplementedError, match="p type Bernoulli and q type Normal"):
        d.kl_divergence(d.Bernoulli(0.5), d.Normal(0.0, 1.0))
    with pytest.raises(NotImplementedError, match="same transforms"):
        d.kl_divergence(d.LogNormal(0.0, 1.0), d.Weibull(1.0, 1.0))
    one = d.Normal(t.zeros(2), 1.0)
    with pytest.raises(NotImplementedError, match="1 reinterpreted batch dims, q has 0"):
        d.kl_divergence(d.Independent(one, 1), d.Independent(one, 0))
    with pytest.raises(TypeError, match="Expected type_p to be a Distribution subclass but got 3"):
        d.register_kl(3, 4)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
        d.kl_divergence(*(d.MultivariateNormal(t.zeros(n), t.eye(n)) for n in (2, 3)))


def test_bregman_divergence_of_an_exponential_family() -> None:
    """A family that only says how it is normalised has a divergence and an entropy."""

    class Waiting(d.ExponentialFamily):
        arg_constraints = {"rate": d.constraints.positive}  # noqa: RUF012
        _mean_carrier_measure = 0

        def __init__(self, rate: t.Tensor) -> None:
            self.rate = rate
            super().__init__(rate.shape)

        @property
        def _natural_params(self) -> tuple[t.Tensor, ...]:
            return (-self.rate,)

        def _log_normalizer(self, x: t.Tensor) -> t.Tensor:  # type: ignore[override]
            return -(-x).log()

    rates = t.tensor([0.5, 2.0]), t.tensor([1.5, 1.0])
    expected = d.kl_divergence(*(d.Exponential(rate) for rate in rates))
    actual = d.kl_divergence(*(Waiting(rate) for rate in rates))
    np.testing.assert_allclose(actual.detach().numpy(), expected.numpy(), 1e-6)
    np.testing.assert_allclose(
        Waiting(rates[0]).entropy().detach().numpy(),
        d.Exponential(rates[0]).entropy().numpy(),
        1e-6,
    )
